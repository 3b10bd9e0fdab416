import { isWebhookKind } from "../../../domain/event/events.ts";
import type { DeadLetter } from "../../../domain/recovery/dead-letter.ts";
import { commandLine } from "../core/command-line.ts";

export type NextStep = "map" | "redrive" | "resend" | "purge";

/** Reasons of bodies that no mapping can read. */
const noJson = /^not JSON|is not JSON$/;
/** A mapping's reasons begin with the field that it could not map: `type: …`, `userId: …`. */
const ofMapping = /^[a-z]\w*: /;

/**
 * The right next step. A webhook that the mapping refused needs another mapping; one that is not JSON can
 * only be purged; a subscriber's message is sent to its queue again; everything else is redriven after its
 * cause is fixed.
 */
export function nextStepOf(queue: string, { reason = "" }: Pick<DeadLetter, "reason">): NextStep {
  if (queue.startsWith("subscriber/")) return "resend";
  if (!isWebhookKind(queue)) return "redrive";
  if (noJson.test(reason)) return "purge";
  return ofMapping.test(reason) ? "map" : "redrive";
}

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
