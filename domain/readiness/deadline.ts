import { permanent } from "../core/failures.ts";
import { checkSchemaVersion, fieldsOf, numberOf, optionalText, parseJson, present } from "../core/parse.ts";
import { jsonText } from "../event/json.ts";
import { parseSubject, type Subject } from "../event/subjects.ts";

const version = 1;

/**
 * A message that triggers the readiness check of a connection. `since` is when the account was connected, in
 * milliseconds since 1970.
 */
export type Deadline = {
  readonly subject: Subject;
  readonly since: number;
  readonly correlationId?: string;
};

export function writeDeadline(deadline: Deadline): string {
  return jsonText({ schemaVersion: version, ...deadline });
}

/** @throws permanent failure naming the field; retryable failure if a later release wrote it */
export function readDeadline(text: string): Deadline {
  const fields = fieldsOf(parseJson(text, "the deadline"), "the deadline");
  checkSchemaVersion(fields.schemaVersion, version);
  const subject = parseSubject(fields.subject);
  if (subject.kind !== "account") throw permanent("subject.kind: expected account");
  return present<Deadline>({
    subject,
    since: numberOf(fields, "since"),
    correlationId: optionalText(fields, "correlationId"),
  });
}

/**
 * Seconds between checks. Most accounts are ready soon, and the check that finds one ready deletes its
 * message. SQS hides a message for less than 12 hours.
 */
const waits = [900, 3_600, 21_600, 42_900] as const;

/**
 * How long to hide a deadline's message, in seconds.
 * @param receives number of receives, including this one
 * @param now by a service's clock, in milliseconds since 1970
 */
export function secondsUntilCheck(deadline: number, receives: number, now: number): number {
  const longest = waits[Math.min(receives, waits.length) - 1] ?? waits[0];
  return Math.min(longest, Math.max(1, Math.ceil((deadline - now) / 1000)));
}
