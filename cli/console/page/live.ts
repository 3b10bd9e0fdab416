import { signal } from "@preact/signals";
import type { Happening } from "../../events/event-tail.ts";

/** What the table's stream tells, while the page is seen. */
export type Live = { readonly number: number; readonly happening: Happening };

/** The newest first. */
export const happenings = signal<readonly Live[]>([]);
export const tailState = signal<{ readonly state: string; readonly reason?: string }>({
  state: "connecting",
});

/** What the page keeps: an hour of events would fill it. */
const kept = 500;
const listeners = new Set<(happening: Happening) => void>();
let source: EventSource | undefined;
let last = 0;
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

function open(): void {
  source = new EventSource("/api/tail");
  source.addEventListener("happening", ({ data }) => {
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
  source.addEventListener("state", ({ data }) => {
    tailState.value = JSON.parse(data);
  });
  source.addEventListener("error", () => {
    tailState.value = { state: "connecting" };
  });
}
