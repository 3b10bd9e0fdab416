import { expect, it } from "vitest";
import { nextStepOf } from "../../../../packages/cli/dead-letters/next-step.ts";

it.each([
  ["users", 'type: mapping.types translates no event name "sing"', "map"],
  ["accounts", 'accountId: not a UUID; mapping.ids "any" would accept it', "map"],
  ["accounts", "not JSON at position 7", "purge"],
  ["endpoints", "webhook is not JSON", "purge"],
  ["users", undefined, "redrive"],
  ["users", "DynamoDB: ValidationException", "redrive"],
  ["fetch", "the provider answered 422", "redrive"],
  ["erase", "id: missing", "redrive"],
  ["subscriber/everything", "the queue is gone", "resend"],
] as const)("a dead letter of %s with the reason %s: %s", (queue, reason, step) => {
  expect(nextStepOf(queue, reason === undefined ? {} : { reason })).toBe(step);
});
