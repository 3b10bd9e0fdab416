import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { storedEvents } from "../../../adapters/dynamodb/stored-events.ts";
import { present } from "../../../domain/core/parse.ts";
import { identify } from "../../../domain/event/envelope.ts";
import {
  subjectKindOf,
  type WebhookEventType,
  type WebhookKind,
  webhookEventTypes,
} from "../../../domain/event/events.ts";
import { mapPayload } from "../../../domain/event/mapping.ts";
import { subjectOf } from "../../../domain/event/subjects.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { choiceFlag, type SubjectFlags } from "../core/flags.ts";
import { checkMapping } from "../core/stage-settings.ts";
import { commandLine } from "../core/text.ts";
import { sendWebhook, webhookTarget } from "../provider/webhook-sender.ts";
import { knownRecords, recordsIn } from "../records/known-records.ts";

export function addTo(program: Command): void {
  addCommand<SubjectFlags>(program, {
    name: "trigger <type> [endpoint]",
    summary:
      "Sends a webhook as the provider would, in the format of the default mapping. For a stage in AWS it asks first, and needs --user or --account.",
    asks: true,
    subject: ["the", "; default: a known or an invented one"],
    examples: [
      "npx income-events trigger user.created --user 6f1c2b9e-5a0d-4c3e-8f7a-1b2c3d4e5f60 --outputs outputs.json",
      "npx income-events trigger account.connected    for a stored account",
      "npx income-events trigger endpoint.updated income",
    ],
    run: triggerEvent,
  });
}

export async function triggerEvent(
  operation: Operation,
  flags: SubjectFlags,
  ...[name, given]: readonly string[]
): Promise<void> {
  const { deployment, terminal } = operation;
  const { stage, local } = deployment;
  const type = choiceFlag("<type>", name, webhookEventTypes);
  if (type === undefined) throw CommandError.usage("<type> is missing.");
  const endpoint = given ?? "income";
  const isNamed =
    flags.user !== undefined || flags.account !== undefined || flags.companyAccount !== undefined;
  if (local === undefined) {
    if (!isNamed)
      throw CommandError.usage(
        "A stage in AWS needs the event's subject: --user, --account or --company-account.",
      );
    await terminal.confirm(
      `This sends ${type} to the stage ${stage}: its subscribers get an event that did not happen.`,
    );
  }
  const subject = isNamed ? { ...flags, endpoint } : await knownSubject(operation, type, endpoint);
  const { kind, body } = sampleWebhook(type, subject, new Date());
  // Refuses invalid ids here, before they become a dead letter.
  mapPayload(checkMapping({}, "the default mapping")[kind], body, jmespathSearch);
  const target = await webhookTarget(operation);
  const text = JSON.stringify(body);
  const answer = await sendWebhook(target, { kind, method: "POST", authentication: "right", body: text });
  if (answer !== 202)
    throw CommandError.failed(
      `The stage did not accept the webhook: ${answer}. See why: npx income-events doctor`,
    );
  const id = identify(kind, Buffer.from(text));
  terminal.result(
    { stage, type, kind, id, body },
    `Sent ${type} to ${kind}: ${text}\n${commandLine`Follow it: npx income-events events show ${id}`}`,
  );
}

/** A subject of the local system that is not deleted, so that the event leads to real data. */
async function knownSubject(
  operation: Operation,
  type: WebhookEventType,
  endpoint: string,
): Promise<SampleSubject> {
  if (type.endsWith(".created")) return { endpoint };
  const { deployment, clients } = operation;
  const { loadState } = knownRecords(recordsIn(operation));
  for await (const { events } of storedEvents(clients.dynamodb, deployment.output("TableName")).scan()) {
    for (const { event } of events) {
      const { userId: user, accountId: account, companyAccountId: companyAccount } = event;
      const id = type.startsWith("user.") ? user : type.startsWith("company-") ? companyAccount : account;
      if (id === undefined || (await loadState(subjectOf({ ...event, type })))?.deleted === true) continue;
      return present<SampleSubject>({ endpoint, user, account, companyAccount });
    }
  }
  return { endpoint };
}

/** Subject of a sample webhook. Absent ids are generated. */
type SampleSubject = SubjectFlags & { readonly endpoint: string };

const verbs: Readonly<Record<string, string>> = {
  created: "create",
  updated: "update",
  connected: "connect",
  disconnected: "disconnect",
  deleted: "delete",
};

/** A webhook of a type, in the form of the default mapping. */
function sampleWebhook(
  type: WebhookEventType,
  { user = randomUUID(), account = randomUUID(), companyAccount = randomUUID(), endpoint }: SampleSubject,
  now: Date,
): { readonly kind: WebhookKind; readonly body: object } {
  const verb = verbs[type.split(".")[1] ?? ""] ?? "update";
  const created_at = now.toISOString().slice(0, 19).replace("T", " ");
  const connected = verb !== "disconnect" && verb !== "delete";
  const change = { event: `${verb}_account`, user_id: user, connected, created_at };
  switch (subjectKindOf(type)) {
    case "user":
      return { kind: "users", body: { action: `${verb}_user`, data: { id: user, created_at } } };
    case "account":
      return { kind: "accounts", body: { account_id: account, ...change } };
    case "company-account":
      return { kind: "company-accounts", body: { company_account_id: companyAccount, ...change } };
    case "endpoint": {
      const ids = { request_id: randomUUID(), account_id: account, user_id: user };
      const body = { event: "update_endpoint", ...ids, endpoint, data_available: true };
      return { kind: "endpoints", body };
    }
  }
}
