import type { ComponentType } from "preact";
import { type Dispatch, type StateUpdater, useEffect, useRef, useState } from "preact/hooks";
import { useLoaded } from "./api.ts";
import { tailState } from "./live.ts";
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
  useKeys(setHelping);
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
      {isHelping && <Help onClose={() => setHelping(false)} />}
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
function useKeys(setHelping: Dispatch<StateUpdater<boolean>>): void {
  // Added once, because the component may render between two keys.
  useEffect(() => {
    let isGoing = false;
    const onKey = (event: KeyboardEvent) => {
      const { target, key } = event;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      const to = isGoing ? views.find((view) => view.letter === key) : undefined;
      isGoing = key === "g";
      if (to !== undefined) go(to.at);
      else if (key === "?") setHelping((value) => !value);
      else if (key === "/") {
        event.preventDefault();
        focusSearch();
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [setHelping]);
}

/** Focuses the page's own search, or else the search of events. */
function focusSearch(): void {
  if (findSearch() === null) go("/events");
  focusWhenThere(framesToWait);
}

const framesToWait = 60;

function findSearch(): HTMLInputElement | null {
  return document.querySelector<HTMLInputElement>("input[type=search]");
}

/** Waits for the page to render after navigation. */
function focusWhenThere(frames: number): void {
  const found = findSearch();
  if (found !== null) found.focus();
  else if (frames > 0) requestAnimationFrame(() => focusWhenThere(frames - 1));
}

function Help({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl class="facts">
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>Search</dd>
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>Show this help</dd>
        {views.map(({ letter, name, at }) => (
          <>
            <dt key={at}>
              <kbd>g</kbd> <kbd>{letter}</kbd>
            </dt>
            <dd>{name}</dd>
          </>
        ))}
      </dl>
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
