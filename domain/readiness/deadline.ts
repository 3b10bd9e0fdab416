import { permanent } from "../core/failures.ts";
import { fieldsOf, numberOf, optionalText, parseJson, present } from "../core/parse.ts";
import { jsonText } from "../event/json-text.ts";
import { parseSubject, type Subject } from "../event/subjects.ts";
import { checkSchemaVersion } from "../message/schema-version.ts";

const version = 1;

/** Ends the wait for an account, by when it is connected since; milliseconds since 1970. It decides nothing by itself. */
export type Deadline = {
  readonly subject: Subject;
  readonly since: number;
  readonly correlationId?: string;
};

export function writeDeadline(deadline: Deadline): string {
  return jsonText({ schemaVersion: version, ...deadline });
}

/** @throws permanent failure naming the field; a retryable one where it is of a later release */
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

/** Most accounts are ready soon: each look that finds one ends its message. SQS hides a message for less than 12 hours. */
const waits = [900, 3_600, 21_600, 42_900] as const;

/**
 * For how many seconds a deadline's message becomes invisible.
 * @param receives how often it was received, this time included
 * @param now by a service's clock, milliseconds since 1970
 */
export function secondsUntilLook(deadline: number, receives: number, now: number): number {
  const longest = waits[Math.min(receives, waits.length) - 1] ?? waits[0];
  return Math.min(longest, Math.max(1, Math.ceil((deadline - now) / 1000)));
}

/** How long a message becomes invisible whose account is in doubt at its deadline. */
export const heldSeconds = waits[0];
