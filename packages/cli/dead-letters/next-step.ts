import { isWebhookKind } from "../../../domain/event/events.ts";
import type { DeadLetter } from "../../../domain/recovery/dead-letter.ts";
import { commandLine } from "../core/command-line.ts";

/** The next step for a dead letter. */
export type NextStep = "map" | "redrive" | "resend" | "purge";

/** Reasons of bodies that no mapping can read. */
const noJson = /^not JSON|is not JSON$/;
/** A mapping's reasons begin with the field that it could not map: `type: …`, `userId: …`. */
const ofMapping = /^[a-z]\w*: /;

/**
 * The one right step: a webhook that the mapping refused needs another mapping, one that is no JSON is of no use, a
 * subscriber's message is sent to its queue again, and all else is redriven once its cause is gone.
 */
export function nextStepOf(queue: string, { reason = "" }: Pick<DeadLetter, "reason">): NextStep {
  if (queue.startsWith("subscriber/")) return "resend";
  if (!isWebhookKind(queue)) return "redrive";
  if (noJson.test(reason)) return "purge";
  return ofMapping.test(reason) ? "map" : "redrive";
}

/** How that is typed. */
export function nextStepText(step: NextStep, queue: string, id: string): string {
  switch (step) {
    case "map":
      return commandLine`npx income-events mapping try webhook.json --kind ${queue}`;
    case "redrive":
    case "resend":
      return commandLine`npx income-events dlq redrive ${queue} --id ${id}`;
    case "purge":
      return commandLine`npx income-events dlq purge ${queue} --id ${id}`;
  }
}
