import type { Happening } from "@income-events/cli/events/event-tail.ts";
import { signal } from "@preact/signals";

/** What the table's stream tells, while the page is seen. */
export type Live = { readonly number: number; readonly happening: Happening };

/** The newest first. */
export const happenings = signal<readonly Live[]>([]);
export const tailState = signal<{ readonly state: string; readonly reason?: string }>({
  state: "connecting",
});

/** Whether more has happened meanwhile than the console keeps. */
export const hasMissed = signal(false);

/** What the page keeps: an hour of events would fill it. */
const kept = 500;
const listeners = new Set<(happening: Happening) => void>();
let source: EventSource | undefined;
let last = 0;
/** The id of what came last: a new connection goes on after it. */
let seen = "";
let pending: Live[] = [];
let isDrawing = false;

export function onHappening(listener: (happening: Happening) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Watches while the page is seen: a hidden one costs nothing. */
export function startLive(): void {
  const follow = () => {
    if (document.hidden) {
      source?.close();
      source = undefined;
    } else if (source === undefined) open();
  };
  document.addEventListener("visibilitychange", follow);
  follow();
}

const millisecondsBetweenTries = 3000;

function open(): void {
  const opened = new EventSource(seen === "" ? "/api/tail" : `/api/tail?after=${encodeURIComponent(seen)}`);
  source = opened;
  opened.addEventListener("happening", ({ data, lastEventId }) => {
    seen = lastEventId;
    const happening: Happening = JSON.parse(data);
    last += 1;
    pending.push({ number: last, happening });
    for (const listener of listeners) listener(happening);
    if (isDrawing) return;
    isDrawing = true;
    // Many at once are one drawing.
    requestAnimationFrame(() => {
      isDrawing = false;
      happenings.value = [...pending.toReversed(), ...happenings.value].slice(0, kept);
      pending = [];
    });
  });
  opened.addEventListener("state", ({ data, lastEventId }) => {
    seen = lastEventId;
    tailState.value = JSON.parse(data);
  });
  opened.addEventListener("missed", () => {
    hasMissed.value = true;
  });
  opened.addEventListener("error", () => {
    // Out of reach, the browser tries again by itself; refused, it does not.
    const isRefused = opened.readyState === EventSource.CLOSED;
    tailState.value = isRefused ? { state: "failed", reason: notLetIn } : { state: "connecting" };
    if (!isRefused || source !== opened) return;
    setTimeout(() => {
      if (source !== opened) return;
      source = undefined;
      if (!document.hidden) open();
    }, millisecondsBetweenTries);
  });
}

const notLetIn = "The console was started again: open the address that it has printed.";
