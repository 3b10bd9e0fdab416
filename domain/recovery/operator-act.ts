import { permanent } from "../core/failures.ts";
import { type Fields, numberOf, optionalText, present, textOf } from "../core/parse.ts";

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
export type OperatorActName = (typeof operatorActs)[number];

/** `begun`: in progress or interrupted. */
export const actOutcomes = ["begun", "done", "failed"] as const;
export type ActOutcome = (typeof actOutcomes)[number];

/** An operator's action, without content and without anybody's id. */
export type OperatorAct = {
  readonly id: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** ARN of the caller, from AWS. */
  readonly who: string;
  readonly act: OperatorActName;
  /** Target of the action: a queue, a subscriber, a kind of record. */
  readonly target: string;
  /** Digest of the subject's name under the stage's erasure key. Anyone who knows the id can find it. */
  readonly subject?: string;
  /** The operator's reason, if the action requires one. */
  readonly reason?: string;
  readonly outcome: ActOutcome;
  /** Number of affected items; present when the action is done. */
  readonly count?: number;
};

/** @throws permanent failure naming the invalid field */
export function parseOperatorAct(fields: Fields): OperatorAct {
  return present<OperatorAct>({
    id: textOf(fields, "id"),
    at: textOf(fields, "at"),
    who: textOf(fields, "who"),
    act: oneOf(fields, "act", operatorActs),
    target: textOf(fields, "target"),
    subject: optionalText(fields, "subject"),
    reason: optionalText(fields, "reason"),
    outcome: oneOf(fields, "outcome", actOutcomes),
    count: fields.count === undefined ? undefined : numberOf(fields, "count"),
  });
}

function oneOf<T extends string>(fields: Fields, name: string, words: readonly T[]): T {
  const word = words.find((each) => each === fields[name]);
  if (word === undefined) throw permanent(`${name}: expected one of ${words.join(", ")}`);
  return word;
}
