import type { EraseTask, RefusedKind, Removed } from "./erasure.ts";

/** The objects that each step reads. */
export const objectsReadBy: Readonly<Partial<Record<EraseTask["next"], RefusedKind>>> = {
  "dead letters": "archived dead letters",
  bodies: "large bodies",
  "undelivered changes": "undelivered changes",
};

/** The id that links an erasure's logs and messages. */
export function correlationOfErasure({ correlationId, id }: EraseTask): string | undefined {
  return correlationId ?? id;
}

export function addRemoved(before: Removed, more: Removed): Removed {
  const kinds = [...new Set([...Object.keys(before), ...Object.keys(more)])];
  return Object.fromEntries(kinds.map((kind) => [kind, (before[kind] ?? 0) + (more[kind] ?? 0)]));
}

/** Updates the refused kinds after a step that reads one kind of objects. */
export function withRefusal(
  refused: readonly RefusedKind[],
  kind: RefusedKind,
  isRefused: boolean,
): readonly RefusedKind[] {
  const others = refused.filter((each) => each !== kind);
  return isRefused ? [...others, kind] : others;
}
