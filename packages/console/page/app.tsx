import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLoaded } from "./api.ts";
import { tailState } from "./live.ts";
import { type Fact, Facts } from "./parts/data.tsx";
import { isSearchWanted } from "./parts/search.tsx";
import { followLink, go, place } from "./route.ts";
import { nextTheme, type Stage, StageContext, theme } from "./stage.ts";
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
  const [isHelping, setHelping] = useState(false);
  useEffect(() => onKeys(() => setHelping((value) => !value)), []);
  const view = views.find(isShown);
  useEffect(() => {
    if (view !== undefined) document.title = `${view.name} · Console`;
  }, [view]);
  if (stage.data === undefined) return <p class="starting">{stage.error ?? "Loading the stage…"}</p>;
  return (
    <StageContext.Provider value={stage.data}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: it follows links, which keys press by themselves */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the links within are what is pressed */}
      <div class="frame" onClick={followLink}>
        <Side stage={stage.data} />
        <main id="main" tabIndex={-1}>
          <h1>{view?.name ?? "Page not found"}</h1>
          {view === undefined ? (
            <p>
              The console has no page at this address. <a href="/">Back to the overview</a>
            </p>
          ) : (
            <view.view />
          )}
        </main>
      </div>
      {isHelping && <Help onClose={() => setHelping(false)} />}
    </StageContext.Provider>
  );
}

function isShown({ at }: View): boolean {
  const { path } = place.value;
  return path === at || (at !== "/" && path.startsWith(`${at}/`));
}

function Side({ stage }: { readonly stage: Stage }) {
  const linked = views.filter(({ isLocal }) => isLocal !== true || stage.isLocal);
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
        {linked.map((view) => (
          <a key={view.at} href={view.at} aria-current={isShown(view) ? "page" : undefined}>
            {view.name}
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
        <button type="button" class="plain" onClick={nextTheme}>
          Theme: {theme.value}
        </button>
      </div>
    </header>
  );
}

/**
 * Keyboard shortcuts: `?` shows help, `/` focuses the search, `g` and a letter opens a page. Disabled while
 * typing.
 */
function onKeys(onHelp: () => void): () => void {
  let isGoing = false;
  const onKey = (event: KeyboardEvent) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
    const to = isGoing ? views.find((view) => view.letter === key) : undefined;
    isGoing = key === "g";
    if (to !== undefined) go(to.at);
    else if (key === "?") onHelp();
    else if (key === "/") {
      event.preventDefault();
      // The page's own search, or else the search of events.
      if (document.querySelector("input[type=search]") === null) go("/events");
      isSearchWanted.value = true;
    }
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}

function Help({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <Facts
        of={[
          [<kbd>/</kbd>, "Search"],
          [<kbd>?</kbd>, "Show this help"],
          ...views.map(
            ({ letter, name }): Fact => [
              <>
                <kbd>g</kbd> <kbd>{letter}</kbd>
              </>,
              name,
            ],
          ),
        ]}
      />
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

type View = {
  readonly at: string;
  readonly name: string;
  /** The key after `g` that opens it. */
  readonly letter: string;
  readonly view: ComponentType;
  readonly isLocal?: true;
};

const views: readonly View[] = [
  { at: "/", name: "Overview", letter: "o", view: Overview },
  { at: "/events", name: "Events", letter: "e", view: Events },
  { at: "/records", name: "Users and accounts", letter: "u", view: Records },
  { at: "/dead-letters", name: "Dead letters", letter: "d", view: DeadLetters },
  { at: "/subscribers", name: "Subscribers", letter: "s", view: Subscribers },
  { at: "/provider", name: "Provider", letter: "p", view: Provider },
  { at: "/mapping", name: "Mapping", letter: "m", view: Mapping },
  { at: "/sandbox", name: "Sandbox", letter: "t", view: Sandbox, isLocal: true },
];
