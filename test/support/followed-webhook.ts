import { createHash } from "node:crypto";
import { addressesOf } from "@income-events/local-stack/addresses.ts";
import { subscribersOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { z } from "zod";
import type { Message } from "../../domain/message/message-schemas.ts";
import { readMessages } from "./queues/subscriber-messages.ts";

const codedLine = z.looseObject({ code: z.string(), function: z.string() });

/** Sends a webhook as the provider does; returns the id that correlates its log lines. */
export async function sendFollowed(system: System, kind: string, payload: object): Promise<string> {
  const { endpoints, webhookHeaders } = addressesOf(system);
  const body = JSON.stringify(payload);
  const headers = { ...webhookHeaders, "content-type": "application/json" };
  const answer = await fetch(`${endpoints.api}/webhooks/${kind}`, { method: "POST", headers, body });
  if (answer.status !== 202) throw new Error(`the webhook was answered ${answer.status}`);
  return createHash("sha256").update(`${kind}\n${body}`).digest("base64url");
}

/** `function code` of each line of all functions that a search for an id finds. */
export function linesWith({ stack }: System, id: string): readonly string[] {
  return stack.functions
    .flatMap(({ log }) => log())
    .filter((line) => line.includes(id))
    .map((line) => codedLine.parse(JSON.parse(line)))
    .map((line) => `${line.function} ${line.code}`);
}

/** Messages with a correlation id to the subscriber that gets everything; takes all out of its queue. */
export async function messagesWith({ stack, access }: System, id: string): Promise<readonly Message[]> {
  const everything = subscribersOf(stack).find(({ name }) => name === "everything");
  const messages = await readMessages(access, everything?.queueUrl ?? "");
  return messages.filter(({ correlationid }) => correlationid === id);
}
