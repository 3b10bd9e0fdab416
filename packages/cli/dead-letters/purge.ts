import type { DeadLetter, DeadLetterSource } from "../../../domain/recovery/dead-letter.ts";

export type EachResult = { readonly id: string; readonly result: string };

export type OnEach = (each: EachResult) => void;

/** The ids of at most `limit` matching dead letters, which stay in the queue. */
export async function findDeadLetters(
  source: DeadLetterSource,
  isWanted: (deadLetter: DeadLetter) => boolean,
  limit = Number.POSITIVE_INFINITY,
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  await source(async (deadLetters) => {
    for (const deadLetter of deadLetters)
      if (ids.size < limit && isWanted(deadLetter)) ids.add(deadLetter.messageId);
    return { done: [], isEnough: ids.size >= limit };
  });
  return ids;
}

/** Deletes these dead letters, and none that arrived since. @returns how many were deleted */
export async function purgeDeadLetters(
  source: DeadLetterSource,
  ids: ReadonlySet<string>,
  onEach: OnEach = () => undefined,
): Promise<number> {
  let found = 0;
  const left = new Set(ids);
  const { notRemoved } = await source(async (deadLetters) => {
    const done = deadLetters.filter(({ messageId }) => ids.has(messageId));
    found += done.length;
    for (const { messageId: id } of done) {
      left.delete(id);
      onEach({ id, result: "deleted" });
    }
    return { done, isEnough: found === ids.size };
  });
  for (const id of left) onEach({ id, result: "not there any more, or in the hands of another reader" });
  return found - notRemoved;
}
