import type { SQSClient } from "@aws-sdk/client-sqs";
import { type FoundMessage, searchQueue } from "../../../adapters/sqs/queue-search.ts";
import { fieldsOf, parseJson, textOf } from "../../../domain/core/parse.ts";
import type { WebhookKind } from "../../../domain/event/events.ts";
import { identify } from "../../../domain/event/identify.ts";
import { type Check, checkOf } from "./checks.ts";
import { type PlannedEvent, unreadableBody } from "./plan.ts";

/**
 * Checks that a kind's dead letters of this run are the body that can't be read, with its reason, and no other;
 * takes them away. Dead dead letters of others stay.
 */
export async function checkDeadLetters(
  kind: WebhookKind,
  events: readonly PlannedEvent[],
  mark: string,
  {
    sqs,
    queueUrl,
    seconds,
  }: { readonly sqs: SQSClient; readonly queueUrl: string; readonly seconds: number },
): Promise<readonly Check[]> {
  const unreadable = identify(kind, Buffer.from(unreadableBody(mark)));
  const own = new Map(events.map(({ body, subject }) => [identify(kind, Buffer.from(body)), subject]));
  const { found } = await searchQueue(sqs, {
    queueUrl,
    isWanted: (body) => idIn(body) === unreadable || own.has(idIn(body)),
    isComplete: (soFar) => soFar.some(({ body }) => idIn(body) === unreadable),
    others: "release",
    seconds,
  });
  const reasons = found.filter(({ body }) => idIn(body) === unreadable).map(reasonOf);
  const wrong = found.flatMap((deadLetter) => {
    const subject = own.get(idIn(deadLetter.body));
    return subject === undefined ? [] : [`${subject}: ${reasonOf(deadLetter)}`];
  });
  return [
    {
      name: `${kind}: puts what is no JSON among its dead letters, with the reason`,
      passed: reasons.length > 0 && reasons.every((reason) => reason.startsWith("not JSON")),
      seen: reasons.join("; ") || `none after ${seconds} s`,
    },
    checkOf(`${kind}: puts no event among its dead letters`, wrong, "none"),
  ];
}

/** A dead letter is the envelope of what was received; its id is that of the body, also where that is not kept. */
function idIn(envelope: string): string {
  try {
    return textOf(fieldsOf(parseJson(envelope, "the dead letter"), "the dead letter"), "id");
  } catch {
    return "";
  }
}

function reasonOf({ reason = "no reason" }: FoundMessage): string {
  return reason;
}
