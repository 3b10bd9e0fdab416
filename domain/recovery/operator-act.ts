import { permanent } from "../core/failures.ts";
import { type Fields, optionalNumber, optionalText, present, textOf } from "../core/parse.ts";

/** The operator actions that are recorded. */
export const operatorActs = [
  "reveal",
  "erase",
  "hold",
  "purge",
  "redrive",
  "replay",
  "restore",
  "token",
  "secret",
  "reconcile",
] as const;

/** `begun`: in progress or interrupted. */
export const actOutcomes = ["begun", "done", "failed"] as const;
export type ActOutcome = (typeof actOutcomes)[number];

/** An operator's action, without content and without anybody's id. */
export type OperatorAct = ReturnType<typeof parseOperatorAct>;

/** @throws permanent failure naming the invalid field */
export function parseOperatorAct(fields: Fields) {
  return present({
    id: textOf(fields, "id"),
    /** ISO 8601 in UTC. */
    at: textOf(fields, "at"),
    /** ARN of the caller, from AWS. */
    who: textOf(fields, "who"),
    act: oneOf(fields, "act", operatorActs),
    /** Target of the action: a queue, a subscriber, a kind of record. */
    target: textOf(fields, "target"),
    /** Digest of the subject's name under the stage's erasure key. Anyone who knows the id can find it. */
    subject: optionalText(fields, "subject"),
    /** The operator's reason, if the action requires one. */
    reason: optionalText(fields, "reason"),
    outcome: oneOf(fields, "outcome", actOutcomes),
    /** Number of affected items; present when the action is done. */
    count: optionalNumber(fields, "count"),
  });
}

function oneOf<T extends string>(fields: Fields, name: string, words: readonly T[]): T {
  const word = words.find((each) => each === fields[name]);
  if (word === undefined) throw permanent(`${name}: expected one of ${words.join(", ")}`);
  return word;
}
