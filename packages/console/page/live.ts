import type { Happening } from "@income-events/cli/events/event-tail.ts";
import { signal } from "@preact/signals";
import type { TailAnswer, TailState } from "../tail.ts";
import { get } from "./api.ts";

/** Changes from the table's stream while the page is visible, the newest first. */
export const happenings = signal<readonly Happening[]>([]);
export const tailState = signal<TailState>({ state: "connecting" });

/** Whether more has happened meanwhile than the console keeps. */
export const hasMissed = signal(false);

/** Maximum changes to keep; otherwise an hour of events would fill the page. */
const kept = 500;
const millisecondsBetweenTries = 1000;
const listeners = new Set<(happening: Happening) => void>();

export function onHappening(listener: (happening: Happening) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows the table while the page is visible: a hidden one costs nothing. */
export async function startLive(): Promise<never> {
  for (let at = ""; ; ) {
    if (document.hidden)
      await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
    else at = await follow(at);
  }
}

/** Waits for changes. @returns the position after them */
async function follow(after: string): Promise<string> {
  try {
    const { at, state, isMissing, happenings: added } = await get<TailAnswer>(`/api/tail?after=${after}`);
    tailState.value = state;
    if (isMissing) hasMissed.value = true;
    if (added.length > 0) happenings.value = [...added.toReversed(), ...happenings.value].slice(0, kept);
    for (const happening of added) for (const listener of listeners) listener(happening);
    return at;
  } catch (error) {
    const isRefused = error instanceof Error && error.cause === 401;
    tailState.value = isRefused ? { state: "failed", reason: error.message } : { state: "connecting" };
    await new Promise((resolve) => setTimeout(resolve, millisecondsBetweenTries));
    return after;
  }
}
