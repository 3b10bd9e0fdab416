import { type Fields, fieldsOf, numberOf, present, textsOf } from "../core/parse.ts";

/** What an account must have before its operator can decide. A connection keeps what held when it began. */
export type ReadinessSettings = {
  readonly endpoints: readonly string[];
  readonly deadlineSeconds: number;
  /** Days that the document of `income` must cover. */
  readonly minDays?: number;
};

/** The endpoint whose days count. */
export const endpointOfDays = "income";

/** Documents that are waited for, as fetch needs to know them. */
export type Awaited = Pick<ReadinessSettings, "endpoints" | "minDays">;

/** @returns as `parseReadinessSettings` */
export function parseAwaited(value: unknown): Awaited | undefined {
  return value === undefined ? undefined : awaitedIn(fieldsOf(value, "readiness"));
}

function awaitedIn(fields: Fields): Awaited {
  const minDays = fields.minDays === undefined ? undefined : numberOf(fields, "minDays");
  return present<Awaited>({ endpoints: textsOf(fields, "endpoints"), minDays });
}

/** @returns undefined where the stage has no such setting. @throws permanent failure naming the field */
export function parseReadinessSettings(value: unknown): ReadinessSettings | undefined {
  if (value === undefined) return undefined;
  const fields = fieldsOf(value, "readiness");
  return { ...awaitedIn(fields), deadlineSeconds: numberOf(fields, "deadlineSeconds") };
}
