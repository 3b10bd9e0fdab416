import { randomUUID } from "node:crypto";
import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { marshall } from "@aws-sdk/util-dynamodb";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { expect } from "vitest";
import { reconciliationKey } from "../../../adapters/dynamodb/keys.ts";
import { legalHolds } from "../../../adapters/dynamodb/legal-holds.ts";
import { runRequests } from "../../../adapters/streams/checkpoint.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { eraseTask, writeEraseTask } from "../../../domain/recovery/erasure.ts";
import type { LogCode } from "../../../functions/runtime/log.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { clientsOf, fifoOrder } from "../../../proof/scenario/clients.ts";
import { eventually } from "../../support/eventually.ts";
import type { ProviderAnswer } from "../../support/test-provider.ts";
import { webhookSecretOf } from "../../support/webhooks.ts";
import { type CanaryStage, startCanaryStage } from "./canary-stage.ts";

// Makes a stage's functions log each of their codes, with canaries in all input.

const settings = {
  webhooks: { secretCacheSeconds: 1, maxBodyBytes: 1_000_000 },
  mapping: {
    users: { attributes: { reference: "reference" } },
    accounts: { eventId: { header: "ce-id" }, types: { ...defaultMapping.accounts.types, ping: "ignore" } },
  },
  // The signs of an outage come and go with the answers below.
  functions: {
    archive: { timeoutSeconds: 4 },
    store: { timeoutSeconds: 2 },
    fetch: { timeoutSeconds: 4 },
    relay: { timeoutSeconds: 4 },
    erase: { timeoutSeconds: 3 },
  },
  canary: { everyMinutes: 1_440, withinSeconds: 10 },
  fetch: { maxConcurrency: 4, readAfterSeconds: 1, retry: { baseSeconds: 1, maxSeconds: 2 } },
};
/** Fewer reasons would make the absence of canaries meaningless. */
export const fewReasons = 3;

/** Causes a code to be logged, or says in a sentence why it cannot be. */
export type Provocation = (() => Promise<unknown>) | string;
export type Provocations = Partial<Record<LogCode, Provocation>>;

let started: CanaryStage | undefined;
let webhookSecret = "";
let token = "";
/** Canaries in what must not appear anywhere: credentials, headers that no setting names, errors' texts. */
export const secrets = new Set<string>();

export const stage = (): CanaryStage => {
  if (started === undefined) throw new Error("the stage is not started");
  return started;
};
export const secret = () => webhookSecret;
export const currentToken = () => token;
export const plant = (what: string): string => stage().canaries.plant(what);
export const plantSecret = (what: string): string => {
  secrets.add(what);
  return plant(what);
};
export const start = async (): Promise<void> => {
  started = await startCanaryStage(settings);
  webhookSecret = webhookSecretOf(started.stack);
  await setToken(7_200);
};
export const close = async (): Promise<void> => started?.[Symbol.asyncDispose]();

export const output = (name: string) => outputOf(stage().stack, name);
export const invoke = (id: RegExp, event: object = {}) =>
  stage().functionOf(id).invoke(JSON.stringify(event));

/** A token issued `ago` seconds before now; a later one is newer. */
export const makeToken = (seconds: number, ago = 0): string => {
  const iat = Math.floor(Date.now() / 1000) - ago;
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString("base64url");
  const claims = { iat, exp: iat + seconds, sub: plantSecret("a claim of the token") };
  return `${part({ alg: "none" })}.${part(claims)}.${plantSecret("the token's signature")}`;
};
export const setToken = async (seconds: number, ago = 60): Promise<void> => {
  const made = makeToken(seconds, ago);
  await stage().stack.setSecret(output("TokenSecretArn"), JSON.stringify({ token: made }));
  token = made;
};
export const setWebhookSecret = async (content: object) => {
  await stage().stack.setSecret(output("WebhookSecretArn"), JSON.stringify(content));
  // Restarts the receivers, which then have no cached secret.
  for (const { logicalId, kill } of stage().stack.functions) if (logicalId.includes("Receive")) kill();
};

export const send = async (
  kind: string,
  body: string | object | Uint8Array,
  headers: Record<string, string> = {},
) => {
  const answer = await fetch(`${output("WebhooksUrl")}/${kind}?access=${plantSecret("the query")}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-webhook-secret": secret(),
      authorization: plantSecret("the header authorization"),
      cookie: plantSecret("a cookie"),
      "x-person": plantSecret("a header that no setting names"),
      "user-agent": plantSecret("the user agent"),
      "ce-id": plant("a header that the mapping reads"),
      ...headers,
    },
    body: typeof body === "string" || body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body),
  });
  await answer.arrayBuffer();
  return answer.status;
};
export const user = (more: object = {}) => ({
  action: "create_user",
  ...more,
  data: {
    id: randomUUID(),
    name: plant("a user's name"),
    email: `${plant("a user's address")}@example.com`,
    link: `https://example.com/${plantSecret("link")}`,
    session: plantSecret("session"),
    accounts: [{ link: { token: plantSecret("a link inside") } }],
    session_expires_at: null,
  },
});
export const account = (event: string, more: object = {}) => ({
  event,
  account_id: randomUUID(),
  user_id: randomUUID(),
  datasource_id: plant("a data source"),
  employer: { name: plant("an employer"), [plant("a field's name")]: plant("a field") },
  ...more,
});
export const endpoint = (more: object = {}) =>
  account("update_endpoint", {
    endpoint: "income",
    request_id: plant("a request's id"),
    data_available: true,
    ...more,
  });

const ends: (() => void)[] = [];
/** The provider's answer to matching calls, while a code is provoked. */
export const answers = (...given: Parameters<CanaryStage["answers"]>) =>
  void ends.push(stage().answers(...given));
/** Fails a function's calls to AWS, while a code is provoked. */
export const fails = (...given: Parameters<CanaryStage["fails"]>) => void ends.push(stage().fails(...given));
/** Runs an action and waits until the code is logged once more; ends what failed or answered for it. */
export const provoke = async (code: LogCode, action: () => Promise<unknown>) => {
  const before = stage().count(code);
  try {
    await action();
    await eventually(() => expect(stage().count(code), code).toBeGreaterThan(before), 100);
  } finally {
    for (const end of ends.splice(0)) end();
  }
};
/**
 * Runs the archive until a code is logged: a concurrent erasure hides the dead letters that it searches.
 */
export const archiveUntil = (code: LogCode) => {
  const before = stage().count(code);
  return eventually(async () => {
    await invoke(/Archive/, { beforeEndSeconds: 100_000_000 });
    expect(stage().count(code), code).toBeGreaterThan(before);
  }, 100);
};
export const archivedReasons = async () =>
  (await stage().objects())
    .filter((text) => text.startsWith("dead-letters/"))
    .flatMap((text) => /"reason":"[^"]*"/.exec(text)?.[0] ?? []);
export const page = (status: number): ProviderAnswer => ({
  status,
  headers: { "content-type": "text/html", "x-error": plantSecret("a header of an error") },
  text: `<html><body>${plantSecret(`the page of a ${status}`)}</body></html>`,
});
export const forgetReconciliation = async () => {
  using clients = clientsOf(stage().access);
  const Key = marshall(reconciliationKey);
  await clients.dynamodb.send(new DeleteItemCommand({ TableName: output("TableName"), Key }));
};
/** Reconciliations that receivers requested because of lost webhooks. */
export const requestedRun = async () => {
  using clients = clientsOf(stage().access);
  return await runRequests(clients.dynamodb, output("TableName")).load();
};
export const enqueue = async (queue: string, MessageBody: string) => {
  using clients = clientsOf(stage().access);
  const QueueUrl = output(queue);
  await clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...fifoOrder(QueueUrl) }));
};
/** Puts a legal hold on a subject. */
export const hold = async (subject: Subject, reason: string) => {
  using clients = clientsOf(stage().access);
  const holds = legalHolds(clients.dynamodb, output("TableName"));
  await holds.set(subject, { at: new Date().toISOString(), reason }, []);
};
export const erased = randomUUID();
export const erase = async (id: string) => {
  await provoke("EVENT_STORED", () => send("accounts", account("update_account", { user_id: id })));
  await enqueue("EraseQueueUrl", writeEraseTask(eraseTask({ kind: "user", id }, "operator")));
};
export const outage = () =>
  provoke("PROVIDER_DOWN", async () => {
    answers(/\/income$/, () => page(503));
    for (let sent = 0; sent < 6; sent += 1) await send("endpoints", endpoint());
  });
export const reconcile = async () => {
  await forgetReconciliation();
  return invoke(/^Reconcil/);
};
export const listed = () => ({
  id: randomUUID(),
  name: plant("a listed user"),
  created_at: "2020-01-01 00:00:00 UTC",
});
export const refreshWith = (next: string) => () => ({
  headers: { "x-answer": plantSecret("a header of the refresh") },
  json: { token: next, note: plantSecret("the refresh") },
});
