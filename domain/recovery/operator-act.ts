import { permanent } from "../core/failures.ts";
import { type Fields, numberOf, optionalText, present, textOf } from "../core/parse.ts";

/** What is recorded of operators, by what they did. */
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

/** `begun`: it is under way, or was interrupted. */
export const actOutcomes = ["begun", "done", "failed"] as const;
export type ActOutcome = (typeof actOutcomes)[number];

/** What an operator did, without content and without anybody's id. */
export type OperatorAct = {
  readonly id: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** The ARN of the caller, as AWS knows it. */
  readonly who: string;
  readonly act: OperatorActName;
  /** What it was done to: a queue, a subscriber, a kind of record. */
  readonly target: string;
  /** Of the person whom it was about, by the stage's erasure key: found by whoever knows the id. */
  readonly subject?: string;
  /** Why, in the operator's words, where the act asks for that. */
  readonly reason?: string;
  readonly outcome: ActOutcome;
  /** How many it was, where it is done. */
  readonly count?: number;
};

/** @throws permanent failure naming what is not as this release writes it */
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
