import { type Fields, fieldsOf, numberOf, present, textsOf } from "../core/parse.ts";

/** What an account must have before its operator can decide. A connection keeps its initial settings. */
export type ReadinessSettings = {
  readonly endpoints: readonly string[];
  readonly deadlineSeconds: number;
  /** Days that the `income` document must cover. */
  readonly minDays?: number;
  /** Which connected accounts of a user must be ready or incomplete; defaults to `all`. */
  readonly users?: UserRule;
};

export const userRules = ["all", "any"] as const;
export type UserRule = (typeof userRules)[number];

/** The endpoint to which `minDays` applies. */
export const endpointOfDays = "income";

/** The awaited documents, as fetch needs them. */
export type Awaited = Pick<ReadinessSettings, "endpoints" | "minDays">;

/** @returns undefined if the stage does not have the setting. @throws permanent failure naming the field */
export function parseAwaited(value: unknown): Awaited | undefined {
  return value === undefined ? undefined : awaitedIn(fieldsOf(value, "readiness"));
}

function awaitedIn(fields: Fields): Awaited {
  const minDays = fields.minDays === undefined ? undefined : numberOf(fields, "minDays");
  return present<Awaited>({ endpoints: textsOf(fields, "endpoints"), minDays });
}

/** @returns undefined if the stage does not have the setting. @throws permanent failure naming the field */
export function parseReadinessSettings(value: unknown): ReadinessSettings | undefined {
  if (value === undefined) return undefined;
  const fields = fieldsOf(value, "readiness");
  const users = userRules.find((rule) => rule === fields.users);
  return {
    ...awaitedIn(fields),
    deadlineSeconds: numberOf(fields, "deadlineSeconds"),
    ...present({ users }),
  };
}
