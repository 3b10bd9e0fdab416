import type { Happening } from "@income-events/cli/events/event-tail.ts";
import { signal } from "@preact/signals";
import type { TailLine, TailState } from "../tail.ts";
import { ApiError, lines } from "./api.ts";

/** Changes from the table's stream while the page is visible. */
export type Live = { readonly number: number; readonly happening: Happening };

/** The newest first. */
export const happenings = signal<readonly Live[]>([]);
export const tailState = signal<TailState>({ state: "connecting" });

/** Whether more has happened meanwhile than the console keeps. */
export const hasMissed = signal(false);

/** Maximum changes to keep; otherwise an hour of events would fill the page. */
const kept = 500;
const listeners = new Set<(happening: Happening) => void>();
let watching: AbortController | undefined;
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
      watching?.abort();
      watching = undefined;
    } else if (watching === undefined) {
      watching = new AbortController();
      void watch(watching.signal);
    }
  };
  document.addEventListener("visibilitychange", follow);
  follow();
}

const millisecondsBetweenTries = 1000;

async function watch(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const after = seen === "" ? "" : `?after=${encodeURIComponent(seen)}`;
      for await (const line of lines<TailLine>(`/api/tail${after}`, signal)) take(line);
      tailState.value = { state: "connecting" };
    } catch (error) {
      if (signal.aborted) return;
      const isRefused = error instanceof ApiError && error.status === 401;
      tailState.value = isRefused ? { state: "failed", reason: error.message } : { state: "connecting" };
    }
    await new Promise((resolve) => setTimeout(resolve, millisecondsBetweenTries));
  }
}

function take(line: TailLine): void {
  if (line.type === "missed") {
    hasMissed.value = true;
    return;
  }
  seen = line.id ?? seen;
  if (line.type === "state") tailState.value = line.state;
  else draw(line.happening);
}

function draw(happening: Happening): void {
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
}
