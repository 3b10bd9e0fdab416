import type { ComponentType } from "preact";
import { DeadLetters } from "./views/dead-letters.tsx";
import { Events } from "./views/events.tsx";
import { Mapping } from "./views/mapping.tsx";
import { Overview } from "./views/overview.tsx";
import { Provider } from "./views/provider.tsx";
import { Records } from "./views/records.tsx";
import { Subscribers } from "./views/subscribers.tsx";
import { Trouble } from "./views/trouble.tsx";

export type View = {
  readonly at: string;
  readonly name: string;
  /** Pressed after `g` it goes there. */
  readonly letter: string;
  readonly view: ComponentType;
  /** Of systems on this machine alone. */
  readonly isLocal?: true;
};

export const views: readonly View[] = [
  { at: "/", name: "Overview", letter: "o", view: Overview },
  { at: "/events", name: "Events", letter: "e", view: Events },
  { at: "/records", name: "Users and accounts", letter: "u", view: Records },
  { at: "/dead-letters", name: "Dead letters", letter: "d", view: DeadLetters },
  { at: "/subscribers", name: "Subscribers", letter: "s", view: Subscribers },
  { at: "/provider", name: "Provider", letter: "p", view: Provider },
  { at: "/mapping", name: "Mapping", letter: "m", view: Mapping },
  { at: "/trouble", name: "Trouble", letter: "t", view: Trouble, isLocal: true },
];
