import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { useLoaded } from "./api.ts";
import { tailState } from "./live.ts";
import { followLink, place } from "./route.ts";
import { type Stage, StageContext } from "./stage.ts";
import { DeadLetters } from "./views/dead-letters.tsx";
import { Events } from "./views/events.tsx";
import { Mapping } from "./views/mapping.tsx";
import { Overview } from "./views/overview.tsx";
import { Provider } from "./views/provider.tsx";
import { Records } from "./views/records.tsx";
import { Sandbox } from "./views/sandbox.tsx";
import { Subscribers } from "./views/subscribers.tsx";

export function App() {
  const stage = useLoaded<Stage>("/api/stage");
  if (stage.data === undefined) return <p class="starting">{stage.error ?? "Loading the stage…"}</p>;
  const { path } = place.value;
  const view = views.find(({ at }) => (at === "/" ? path === "/" : path === at || path.startsWith(`${at}/`)));
  return (
    <StageContext.Provider value={stage.data}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: it follows links, which keys press by themselves */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the links within are what is pressed */}
      <div class="frame" onClick={followLink}>
        <Side stage={stage.data} path={path} />
        <main id="main" tabIndex={-1}>
          {view === undefined ? <Lost /> : <Titled name={view.name} View={view.view} />}
        </main>
      </div>
    </StageContext.Provider>
  );
}

function Titled({ name, View }: { readonly name: string; readonly View: ComponentType }) {
  useEffect(() => {
    document.title = `${name} · Console`;
  }, [name]);
  return (
    <>
      <h1>{name}</h1>
      <View />
    </>
  );
}

function Lost() {
  return (
    <>
      <h1>Page not found</h1>
      <p>
        The console has no page at this address. <a href="/">Back to the overview</a>
      </p>
    </>
  );
}

function Side({ stage, path }: { readonly stage: Stage; readonly path: string }) {
  const shown = views.filter(({ isLocal }) => isLocal !== true || stage.isLocal);
  const isHere = (at: string) => (at === "/" ? path === "/" : path.startsWith(at));
  return (
    <header class="side">
      <a class="brand" href="/">
        <img src="/assets/icon.svg" alt="" width="28" height="28" />
        <span>
          <b>{stage.stage}</b>
          <small>{stage.isLocal ? "on this machine" : stage.region}</small>
        </span>
      </a>
      <nav aria-label="Pages">
        {shown.map(({ at, name }) => (
          <a key={at} href={at} aria-current={isHere(at) ? "page" : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <div class="side-end">
        <p class={`live live-${tailState.value.state}`} title={tailState.value.reason}>
          {tailState.value.state === "following"
            ? "Live"
            : tailState.value.reason !== undefined
              ? "Not live"
              : "Connecting…"}
        </p>
        <p class="quiet">{stage.isWritable ? "Write access" : "Read-only"}</p>
      </div>
    </header>
  );
}

type View = {
  readonly at: string;
  readonly name: string;
  readonly view: ComponentType;
  readonly isLocal?: true;
};

const views: readonly View[] = [
  { at: "/", name: "Overview", view: Overview },
  { at: "/events", name: "Events", view: Events },
  { at: "/records", name: "Users and accounts", view: Records },
  { at: "/dead-letters", name: "Dead letters", view: DeadLetters },
  { at: "/subscribers", name: "Subscribers", view: Subscribers },
  { at: "/provider", name: "Provider", view: Provider },
  { at: "/mapping", name: "Mapping", view: Mapping },
  { at: "/sandbox", name: "Sandbox", view: Sandbox, isLocal: true },
];
