import type { Command } from "commander";
import { bodyText, type OverflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { isWebhookKind } from "../../../domain/event/events.ts";
import { contentOfDeadLetter, type DeadLetter } from "../../../domain/recovery/dead-letter.ts";
import { CommandError } from "../core/command-error.ts";
import { countFlag } from "../core/flags.ts";
import { commandLine } from "../core/text.ts";

/** The dead letters that a command applies to: all, or those that match both flags. */
export type Selection = { readonly reason?: string; readonly id?: string };

export const reasonFlag = "only reasons that contain this text, in any letter case";

export function addSelection(command: Command, limit?: string): Command {
  return command
    .option("--reason <text>", reasonFlag)
    .option("--id <id>", "only this id or prefix: of the event, the message, the subject, or SQS")
    .option("--limit <count>", "maximum number", limit);
}

/** Minimum length of an id's prefix; shorter ones would match several dead letters. */
const shortestId = 8;

/**
 * @returns the maximum number of dead letters
 * @throws CommandError if a flag is empty, which would select all, or if an id's prefix is too short
 */
export function checkSelection({ limit, ...selection }: Selection & { readonly limit?: string }): number {
  for (const name of ["reason", "id"] as const) {
    if (selection[name]?.trim() === "")
      throw CommandError.usage(`--${name} is empty. Give it a text, or leave it out for all dead letters.`);
  }
  const { id } = selection;
  if (id !== undefined && id.length < shortestId)
    throw CommandError.usage(`--id ${id}: give at least ${shortestId} characters of it.`);
  return limit === undefined ? Number.POSITIVE_INFINITY : countFlag("--limit", limit);
}

export function isSelected(deadLetter: DeadLetter, { reason, id }: Selection): boolean {
  const part = reason?.toLowerCase();
  if (part !== undefined && !reasonOf(deadLetter).toLowerCase().includes(part)) return false;
  return id === undefined || idsOf(deadLetter).some((each) => each.startsWith(id));
}

/** Also matches a task's id within its subject's name: `account/ID`. */
function idsOf({ messageId, body }: DeadLetter): readonly string[] {
  const { id } = contentOfDeadLetter(body);
  return [messageId, ...(id === undefined ? [] : [id, id.slice(id.indexOf("/") + 1)])];
}

/** @throws CommandError if no dead letter has the id */
export function checkFound({ id }: Selection, found: number, queue: string): void {
  if (id !== undefined && found === 0)
    throw new CommandError(
      "nobody",
      `No dead letter of ${queue} has an id that begins with ${id}. ${commandLine`List them: npx income-events dlq show ${queue}`}`,
    );
}

export function reasonOf({ reason }: DeadLetter): string {
  return reason ?? "failed each time it was received";
}

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

/**
 * The text of a dead letter: for an event, the webhook's body, even if it is in S3; otherwise, and if that
 * body is unavailable, the message.
 */
export async function deadLetterText(
  { body }: DeadLetter,
  overflow: Pick<OverflowBucket, "get">,
): Promise<string> {
  const webhook = contentOfDeadLetter(body).envelope?.body;
  if (webhook === undefined || webhook.type === "facts") return body;
  try {
    return await bodyText(webhook, overflow);
  } catch {
    return body;
  }
}
