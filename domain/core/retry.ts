import { fieldsOf, numberOf } from "./parse.ts";

export type RetrySettings = {
  /** First maximum of the back-off, in seconds; it doubles with each attempt. */
  readonly baseSeconds: number;
  /** Maximum wait in seconds, whatever the failure asks for. SQS delays a message by at most 900 seconds. */
  readonly maxSeconds: number;
};

/** @throws permanent failure naming the setting */
export function parseRetrySettings(value: unknown): RetrySettings {
  const fields = fieldsOf(value, "retry");
  return { baseSeconds: numberOf(fields, "baseSeconds"), maxSeconds: numberOf(fields, "maxSeconds") };
}
