import { bodyText, type WebhookBody } from "../../adapters/aws/body-text.ts";
import { retryable } from "../../domain/core/failures.ts";
import { type Body, readEnvelope } from "../../domain/event/envelope.ts";
import type { DeadLetter, DeadLetterPlace } from "../../domain/recovery/dead-letter.ts";
import { addRemoved, type EraseTask } from "../../domain/recovery/erasure.ts";
import { mentions } from "../../domain/recovery/mentions.ts";
import type { StepDependencies } from "./dependencies.ts";

type Sweep = StepDependencies & {
  readonly isNamed: (text: string) => boolean;
  /**
   * By the object that a body lies in: whether it names somebody. Several dead letters may point to one, which goes
   * once.
   */
  readonly decided: Map<string, Promise<boolean>>;
};
type Swept = { readonly queue: string; readonly deleted: number; readonly isComplete: boolean };

/** Deletes the dead letters, in queues and in their archive, that name somebody who is erased. */
export async function removeDeadLetters(task: EraseTask, dependencies: StepDependencies): Promise<EraseTask> {
  const sweep = { ...dependencies, isNamed: mentions(task.erased.map(({ id }) => id)), decided: new Map() };
  const swept = await Promise.all(
    dependencies
      .deadLetters(dependencies.secondsLeft)
      .map(([queue, place]) => sweepPlace(queue, place, sweep)),
  );
  let removed = task.removed;
  for (const { queue, deleted } of swept) {
    if (deleted > 0) removed = addRemoved(removed, { [`dead letters of ${queue}`]: deleted });
  }
  const incomplete = swept.flatMap(({ queue, isComplete }) => (isComplete ? [] : [queue]));
  return { ...task, removed, incomplete, next: "given-up changes" };
}

async function sweepPlace(queue: string, place: DeadLetterPlace, sweep: Sweep): Promise<Swept> {
  let deleted = 0;
  let isComplete = true;
  const { notTaken } = await place(async (deadLetters) => {
    const named = await Promise.all(deadLetters.map((deadLetter) => isNamedIn(deadLetter, sweep)));
    const done = deadLetters.filter((_, index) => named[index]);
    deleted += done.length;
    isComplete = !sweep.isTimeOver();
    return { done, isEnough: !isComplete };
  });
  if (notTaken > 0) throw retryable(`${notTaken} dead letters of ${queue} could not be deleted`, 1);
  return { queue, deleted, isComplete };
}

/** Where the body lies in an object, that one goes before the dead letter that points to it. */
async function isNamedIn({ body: text }: DeadLetter, sweep: Sweep): Promise<boolean> {
  if (sweep.isNamed(text)) return true;
  const body = bodyIn(text);
  if (body === undefined || body.as === "facts" || body.as === "withheld") return false;
  if (body.as !== "object") return isNamedBody(body, sweep);
  const decided = sweep.decided.get(body.key) ?? removeIfNamed(body, sweep);
  sweep.decided.set(body.key, decided);
  return decided;
}

async function removeIfNamed(body: Extract<Body, { as: "object" }>, sweep: Sweep): Promise<boolean> {
  const isNamed = await isNamedBody(body, sweep);
  if (isNamed) await sweep.objects.remove(body.key);
  return isNamed;
}

async function isNamedBody(body: WebhookBody, { bodies, isNamed }: Sweep): Promise<boolean> {
  const get = async (key: string) => (await bodies.find(key)) ?? new Uint8Array();
  return isNamed(await bodyText(body, { get }));
}

/** What is no envelope says all in its own text. */
function bodyIn(text: string): Body | undefined {
  try {
    return readEnvelope(text).body;
  } catch {
    return undefined;
  }
}
