import { permanent } from "../core/failures.ts";
import { fieldsOf, numberOf, present, textsOf } from "../core/parse.ts";

/** When a user counts as ready: once none of the connected accounts is waited for, or once one of them is ready. */
export const userRules = ["all", "any"] as const;
export type UserRule = (typeof userRules)[number];

/** What an account must have before its operator can decide. A connection keeps what held when it began. */
export type ReadinessSettings = {
  readonly endpoints: readonly string[];
  readonly deadlineSeconds: number;
  /** Days that the document of `income` must cover. */
  readonly minDays?: number;
  readonly users: UserRule;
};

/** The endpoint whose days count. */
export const endpointOfDays = "income";

/** @returns undefined where the stage has no such setting. @throws permanent failure naming the field */
export function parseReadinessSettings(value: unknown): ReadinessSettings | undefined {
  if (value === undefined) return undefined;
  const fields = fieldsOf(value, "readiness");
  const users = userRules.find((rule) => rule === fields.users);
  if (users === undefined) throw permanent(`readiness.users: expected one of ${userRules.join(", ")}`);
  return present<ReadinessSettings>({
    endpoints: textsOf(fields, "endpoints"),
    deadlineSeconds: numberOf(fields, "deadlineSeconds"),
    minDays: fields.minDays === undefined ? undefined : numberOf(fields, "minDays"),
    users,
  });
}
