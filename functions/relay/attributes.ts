import type { LoadState } from "../../adapters/dynamodb/versioned-records.ts";
import { type Failure, failureOf } from "../../domain/core/failures.ts";
import { type Subject, subjectOf } from "../../domain/event/subjects.ts";
import type { Consequence } from "../../domain/message/consequences.ts";
import { withAttributes } from "../../domain/message/message.ts";
import type { Message } from "../../domain/message/message-schemas.ts";
import type { Change } from "../../domain/state/change.ts";
import type { State } from "../../domain/state/state.ts";
import type { Derived, Step } from "./derive.ts";

/** Messages with the attributes of the user whom they are about, by the message without; or why they can't be read. */
type WithAttributes = ReadonlyMap<Message, Message | Failure>;

/** Reads the attributes for all messages of a batch: one request, but where an event names another than its account's user. */
export async function readAttributes(
  derived: readonly (Derived | Failure)[],
  loadState: LoadState,
): Promise<WithAttributes> {
  const found = new Map<Message, Message | Failure>();
  const reads = derived.map(async (each) => {
    if ("type" in each || each.change === undefined) return;
    const messages = each.consequences.flatMap((consequence) =>
      consequence.type === "publish" ? [consequence.message] : [],
    );
    if (messages.length === 0) return;
    const user = await userOf(each.change, loadState).catch(failureOf);
    for (const message of messages) {
      if (user !== undefined) found.set(message, "type" in user ? user : withAttributes(message, user));
    }
  });
  await Promise.all(reads);
  return found;
}

export function addAttributes(step: Step, found: WithAttributes): Step {
  let { failure } = step;
  const consequences = step.consequences.map((consequence): Consequence => {
    const message = consequence.type === "publish" ? found.get(consequence.message) : undefined;
    if (consequence.type !== "publish" || message === undefined) return consequence;
    if ("specversion" in message) return { ...consequence, message };
    failure ??= message;
    return consequence;
  });
  return { ...step, consequences, failure };
}

/** The user whom a change is about, as known now; undefined where its message says it already, or there is none. */
async function userOf(change: Change, loadState: LoadState): Promise<State | undefined> {
  switch (change.type) {
    case "state": {
      const { subject, userId } = change.after;
      return subject.kind === "user" || userId === undefined ? undefined : loadState(userNamed(userId));
    }
    case "event":
      return ownerOf(subjectOf(change.event), change.event.userId, loadState);
    case "document":
      return ownerOf(change.after.subject, change.after.userId, loadState);
  }
}

/** @param userId the user whom the provider named with the account: it may be missing, or another than the owner */
async function ownerOf(
  account: Subject,
  userId: string | undefined,
  loadState: LoadState,
): Promise<State | undefined> {
  const [known, named] = await Promise.all([
    loadState(account),
    userId === undefined ? undefined : loadState(userNamed(userId)),
  ]);
  const ownerId = known?.userId ?? userId;
  return ownerId === undefined || ownerId === userId ? named : loadState(userNamed(ownerId));
}

function userNamed(id: string): Subject {
  return { kind: "user", id };
}
