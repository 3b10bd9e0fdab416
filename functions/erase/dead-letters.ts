import { bodyText } from "../../adapters/s3/overflow-bucket.ts";
import { retryable } from "../../domain/core/failures.ts";
import { type Envelope, readEnvelope } from "../../domain/event/envelope.ts";
import type { WebhookKind } from "../../domain/event/events.ts";
import type { DeadLetter, DeadLetterSource } from "../../domain/recovery/dead-letter.ts";
import { addRemoved, withRefusal } from "../../domain/recovery/erase-progress.ts";
import type { EraseTask } from "../../domain/recovery/erasure.ts";
import { type Mentions, mentions } from "../../domain/recovery/mentions.ts";
import type { EraserDependencies, NextStep, TimeLeft } from "./dependencies.ts";

/** One search of the dead letters for the erased subjects. */
type Sweep = {
  readonly bodies: EraserDependencies["bodies"];
  readonly timeLeft: TimeLeft;
  readonly isNamed: Mentions;
  /** Whether a body names an erased subject, by object key. Several dead letters may point to one object. */
  readonly decided: Map<string, Promise<boolean>>;
};
type Swept = {
  readonly queue: string;
  readonly deleted: number;
  readonly isTooLong: boolean;
  /** Whether another reader holds dead letters that this search did not see. */
  readonly mayHaveMore: boolean;
  /** Number of archived dead letters that S3 refused to return. */
  readonly refused: number;
};

/** Maximum searches while other readers hold dead letters; together they outlast the longest reader. */
const maxSearches = 16;

/**
 * Deletes dead letters, in queues and in the archive, that name an erased subject. The step is done only
 * after a search that saw every dead letter found none. Otherwise it is repeated, later if another reader
 * holds some. Only one erasure searches at a time, because each search hides messages from the others.
 */
export async function removeDeadLetters(
  task: EraseTask,
  dependencies: EraserDependencies,
  timeLeft: TimeLeft,
): Promise<NextStep> {
  const { takeSweepLease, recheckSeconds } = dependencies;
  const release = await takeSweepLease(Math.ceil(timeLeft.seconds()) + 1);
  if (release === undefined) return { task, afterSeconds: recheckSeconds() };
  try {
    return await searchAll(task, dependencies, timeLeft);
  } finally {
    await release();
  }
}

async function searchAll(
  task: EraseTask,
  { bodies, deadLetters, recheckSeconds }: EraserDependencies,
  timeLeft: TimeLeft,
): Promise<NextStep> {
  const sweep: Sweep = { bodies, timeLeft, isNamed: mentions(task.erased), decided: new Map() };
  const all = await deadLetters(timeLeft.seconds);
  const swept = await Promise.all(all.map(([queue, sources]) => sweepQueue(queue, sources, sweep)));
  let removed = task.removed;
  for (const { queue, deleted } of swept) {
    if (deleted > 0) removed = addRemoved(removed, { [`dead letters of ${queue}`]: deleted });
  }
  const searches = task.searches + 1;
  const isRefused = swept.some((each) => each.refused > 0);
  const refused = withRefusal(task.refused, "archived dead letters", isRefused);
  const isPartial = swept.some(({ mayHaveMore }) => mayHaveMore);
  const hasFound = !task.isDryRun && swept.some(({ deleted }) => deleted > 0);
  if (searches < maxSearches && (isPartial || hasFound)) {
    // A dry run deletes nothing, so only its last search counts.
    if (task.isDryRun) removed = task.removed;
    return {
      task: { ...task, removed, refused, searches },
      afterSeconds: isPartial ? recheckSeconds() : 0,
    };
  }
  const incomplete = swept.flatMap(({ queue, isTooLong, mayHaveMore }) =>
    isTooLong || mayHaveMore ? [queue] : [],
  );
  return { task: { ...task, removed, incomplete, refused, searches: 0, next: "bodies" }, afterSeconds: 0 };
}

/** Searches the queue before the archive, as dead letters move from queue to archive; so none is missed. */
async function sweepQueue(queue: string, sources: readonly DeadLetterSource[], sweep: Sweep): Promise<Swept> {
  let swept: Swept = { queue, deleted: 0, isTooLong: false, mayHaveMore: false, refused: 0 };
  for (const source of sources) {
    const { deleted, isTooLong, mayHaveMore, refused } = await sweepSource(queue, source, sweep);
    swept = {
      queue,
      deleted: swept.deleted + deleted,
      isTooLong: swept.isTooLong || isTooLong,
      mayHaveMore: swept.mayHaveMore || mayHaveMore,
      refused: swept.refused + refused,
    };
  }
  return swept;
}

async function sweepSource(queue: string, source: DeadLetterSource, sweep: Sweep): Promise<Swept> {
  let deleted = 0;
  let isTooLong = false;
  const {
    notRemoved,
    mayHaveMore,
    refused = 0,
  } = await source(async (deadLetters) => {
    const named = await Promise.all(deadLetters.map((deadLetter) => isNamedIn(deadLetter, sweep)));
    const done = deadLetters.filter((_, index) => named[index]);
    deleted += done.length;
    isTooLong = sweep.timeLeft.isOver();
    return { done, isEnough: isTooLong };
  });
  if (notRemoved > 0) throw retryable(`${notRemoved} dead letters of ${queue} could not be deleted`, 1);
  return { queue, deleted, isTooLong, mayHaveMore: mayHaveMore && !isTooLong, refused };
}

/**
 * An envelope names the subjects in its body and headers; its own fields name nobody. A body in an object is
 * removed by the next step, `removeBodies`: a retry of this step still needs it.
 */
async function isNamedIn({ body: text }: DeadLetter, sweep: Sweep): Promise<boolean> {
  const envelope = envelopeIn(text);
  if (envelope === undefined) return sweep.isNamed(text);
  const { kind, headers = {}, body } = envelope;
  if (Object.values(headers).some((value) => sweep.isNamed(JSON.stringify({ header: value }), kind)))
    return true;
  if (body.type === "facts") return sweep.isNamed(JSON.stringify(body.facts), kind);
  if (body.type !== "object") return isNamedBody(body, kind, sweep);
  const decided = sweep.decided.get(body.key) ?? isNamedBody(body, kind, sweep);
  sweep.decided.set(body.key, decided);
  return decided;
}

async function isNamedBody(
  body: Parameters<typeof bodyText>[0],
  kind: WebhookKind,
  { bodies, isNamed }: Sweep,
): Promise<boolean> {
  // A body that S3 refuses counts as naming nobody here; the next step keeps the erasure open for it.
  const get = async (key: string) => {
    const content = await bodies.tryGet(key);
    return typeof content === "string" ? new Uint8Array() : content;
  };
  return isNamed(await bodyText(body, { get }), kind);
}

/** @returns undefined if the text is no envelope; then the text itself is searched */
function envelopeIn(text: string): Envelope | undefined {
  try {
    return readEnvelope(text);
  } catch {
    return undefined;
  }
}
