import { type Subscriber, wants } from "../../../domain/message/subscribers.ts";
import { CommandError } from "../core/command-error.ts";
import { newMark } from "./mark.ts";
import { planEvents } from "./plan.ts";

/** A subscriber that exists for smoke tests: nobody misses what is deleted from its queue. */
const ownSubscriber = "smoke";

export type SubscriberQueue = Subscriber & { readonly queueUrl: string };

export type SubscriberChoice = {
  readonly read: readonly (SubscriberQueue & { readonly others: "release" | "delete" })[];
  /** Names of those that get the run's messages and are left alone. */
  readonly left: readonly string[];
};

/**
 * Chooses whose queues are read: a message that is received is kept from its reader for a while.
 * @param names of those that may be read; none: the one named `smoke`
 * @param nobodyReads whether without either all may be read
 * @throws CommandError where there is none, or none gets any of the run's events
 */
export function chooseSubscribers(
  all: readonly SubscriberQueue[],
  names: readonly string[],
  nobodyReads: boolean,
): SubscriberChoice {
  const known = all.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const there = known.length === 0 ? "none" : known.join(", ");
    throw new CommandError("usage", `There is no subscriber ${unknown}; there is: ${there}.`);
  }
  const wanted = names.length > 0 ? names : defaultNames(known, nobodyReads);
  const read = all
    .filter(({ name }) => wanted.includes(name))
    .map((each) => ({ ...each, others: each.name === ownSubscriber ? "delete" : "release" }) as const);
  if (read.length === 0) throw new CommandError("usage", howToHaveOne(known));
  const types = planEvents(newMark()).map(({ type }) => type);
  if (!read.some((subscriber) => types.some((type) => wants(subscriber, type)))) {
    const reported = `${read.map(({ name }) => name).join(", ")}: no filter takes any of ${[...new Set(types)].join(", ")}`;
    throw new CommandError("usage", `${reported}. Name another one with --subscriber.`);
  }
  return { read, left: known.filter((name) => !read.some((each) => each.name === name)) };
}

function defaultNames(known: readonly string[], nobodyReads: boolean): readonly string[] {
  return nobodyReads && !known.includes(ownSubscriber) ? known : [ownSubscriber];
}

function howToHaveOne(known: readonly string[]): string {
  const others =
    known.length === 0
      ? ""
      : "\nOr name whose queue may be read: its other messages are hidden from its readers meanwhile, and count as\n" +
        `received once. ${known.map((name) => `--subscriber ${name}`).join(" ")}`;
  return (
    `No subscriber is named ${ownSubscriber}. Add one to the stage's settings and deploy:\n` +
    `  "subscribers": [{ "name": "${ownSubscriber}", "retentionDays": 1 }, …]${others}`
  );
}
