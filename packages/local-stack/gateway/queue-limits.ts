import { asObject, asString, type JsonObject, type Operation, parseJsonObject } from "./operation.ts";
import type { Fault } from "./types.ts";

const longestDelaySeconds = 900;
const mostAttributes = 10;
/** Letters, digits and punctuation of ASCII. */
const fifoId = /^[\x21-\x7e]{1,128}$/;

/**
 * What SQS refuses of messages and the engine of queues takes. A batch is refused whole, where SQS refuses its entry.
 * Source: SQS API reference, "SendMessage"; developer guide, "Amazon SQS message quotas".
 */
export function messageFault({ action }: Operation, body: Buffer): Fault | undefined {
  if (action !== "sqs:SendMessage" && action !== "sqs:SendMessageBatch") return undefined;
  const input = parseJsonObject(body.toString());
  const entries = Array.isArray(input.Entries) ? input.Entries.map(asObject) : [input];
  const reason = entries.map(reasonToRefuse).find((found) => found !== undefined);
  if (reason === undefined) return undefined;
  return { status: 400, errorType: "InvalidParameterValue", message: reason };
}

function reasonToRefuse(entry: JsonObject): string | undefined {
  const delay = Number(entry.DelaySeconds ?? 0);
  if (delay < 0 || delay > longestDelaySeconds) {
    return `Value ${delay} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= ${longestDelaySeconds}.`;
  }
  const attributes = Object.keys(asObject(entry.MessageAttributes)).length;
  if (attributes > mostAttributes) {
    return `Number of message attributes [${attributes}] exceeds the allowed maximum [${mostAttributes}].`;
  }
  for (const name of ["MessageGroupId", "MessageDeduplicationId"]) {
    if (entry[name] !== undefined && !fifoId.test(asString(entry[name]))) {
      return `Value for parameter ${name} is invalid. Reason: ${name} can only include alphanumeric and punctuation characters. 1 to 128 in length.`;
    }
  }
  return undefined;
}
