import { setTimeout as pause } from "node:timers/promises";
import type { StoredEvents } from "../../../adapters/dynamodb/stored-events.ts";
import { isUnordered, webhookKinds } from "../../../domain/event/events.ts";
import { attempt, type Check, checkEach, type PlannedEvent, type SentEvent } from "./plan.ts";

/** Milliseconds between two polls of the table. */
const pauseInMs = 500;

const groups: readonly (readonly [name: string, holds: (event: PlannedEvent) => boolean])[] = [
  ["stores an event that arrives three times once", ({ times }) => times > 1],
  ["stores each other event once", ({ times, isLarge }) => times === 1 && !isLarge],
  ["stores an event of 400 KB", ({ isLarge }) => isLarge],
];

/** Checks that each accepted event is stored exactly once, however often its body was sent. */
export async function checkStored(
  sent: readonly SentEvent[],
  stored: StoredEvents,
  seconds: number,
): Promise<readonly Check[]> {
  const end = Date.now() + seconds * 1000;
  const checks = webhookKinds.flatMap((kind) =>
    groups.map(([words, holds]) => {
      const name = `${kind}: ${words}`;
      const some = sent.filter(({ event }) => event.kind === kind && holds(event));
      return attempt(name, async () => {
        const problems = await Promise.all(some.map((each) => problemOf(each, stored, end, seconds)));
        return [checkEach(name, some.length, problems.flat())];
      });
    }),
  );
  return (await Promise.all(checks)).flat();
}

/** @returns the problem, once it is certain or the time is over */
async function problemOf(
  { event: { subject, owner, times }, accepted }: SentEvent,
  stored: StoredEvents,
  end: number,
  seconds: number,
): Promise<readonly string[]> {
  if (accepted < times) return [`${subject} was not taken`];
  for (;;) {
    const records = await stored.eventsOf(owner);
    const [record] = records;
    if (records.length > 1) return [`${subject} has ${records.length} records`];
    // Receipts are counted if the event has neither id nor time, and SQS may deliver a message twice.
    if (record !== undefined && (!isUnordered(record.event) || record.receipts.count >= accepted)) return [];
    const lack = record === undefined ? "is not stored" : `was received ${record.receipts.count} times`;
    if (Date.now() >= end) return [`${subject} ${lack} after ${seconds} s`];
    await pause(pauseInMs);
  }
}
