import { randomUUID } from "node:crypto";
import { DeleteItemCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { marshall } from "@aws-sdk/util-dynamodb";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { expect } from "vitest";
import { reconciliationKey } from "../../../adapters/dynamodb/keys.ts";
import { runRequests } from "../../../adapters/streams/checkpoint.ts";
import { eraseTask, writeEraseTask } from "../../../domain/recovery/erasure.ts";
import type { LogCode } from "../../../functions/runtime/log.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { fifoOrder } from "../../../proof/scenario/clients.ts";
import type { ProviderAnswer } from "../../../proof/support/test-provider.ts";
import { type CanaryStage, startCanaryStage } from "../../support/canary-stage.ts";
import { eventually } from "../../support/eventually.ts";
import { webhookSecretOf } from "../../support/operated-stage.ts";

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

export type CanaryDriver = ReturnType<typeof createCanaryDriver>;

/** Makes a stage's functions log each of their codes, with canaries in all input. */
export function createCanaryDriver() {
  let started: CanaryStage | undefined;
  let webhookSecret = "";
  let token = "";
  /** Canaries in what must not appear anywhere: credentials, headers that no setting names, errors' texts. */
  const secrets = new Set<string>();

  const stage = (): CanaryStage => {
    if (started === undefined) throw new Error("the stage is not started");
    return started;
  };
  const secret = () => webhookSecret;
  const currentToken = () => token;
  const plant = (what: string): string => stage().canaries.plant(what);
  const plantSecret = (what: string): string => {
    secrets.add(what);
    return plant(what);
  };
  const start = async (): Promise<void> => {
    started = await startCanaryStage("local", settings);
    webhookSecret = await webhookSecretOf(started.stack);
    await setToken(7_200);
  };
  const close = async (): Promise<void> => started?.[Symbol.asyncDispose]();

  const output = (name: string) => outputOf(stage().stack, name);
  const invoke = (id: RegExp, event: object = {}) => stage().functionOf(id).invoke(JSON.stringify(event));

  /** A token issued `ago` seconds before now; a later one is newer. */
  const makeToken = (seconds: number, ago = 0): string => {
    const iat = Math.floor(Date.now() / 1000) - ago;
    const part = (content: object) => Buffer.from(JSON.stringify(content)).toString("base64url");
    const claims = { iat, exp: iat + seconds, sub: plantSecret("a claim of the token") };
    return `${part({ alg: "none" })}.${part(claims)}.${plantSecret("the token's signature")}`;
  };
  const setToken = async (seconds: number, ago = 60): Promise<void> => {
    const made = makeToken(seconds, ago);
    await stage().stack.setSecret(output("TokenSecretArn"), JSON.stringify({ token: made }));
    token = made;
  };
  const setWebhookSecret = async (content: object) => {
    await stage().stack.setSecret(output("WebhookSecretArn"), JSON.stringify(content));
    // Restarts the receivers, which then have no cached secret.
    for (const { logicalId, kill } of stage().stack.functions) if (logicalId.includes("Receive")) kill();
  };

  const send = async (
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
  const user = (more: object = {}) => ({
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
  const account = (event: string, more: object = {}) => ({
    event,
    account_id: randomUUID(),
    user_id: randomUUID(),
    datasource_id: plant("a data source"),
    employer: { name: plant("an employer"), [plant("a field's name")]: plant("a field") },
    ...more,
  });
  const endpoint = (more: object = {}) =>
    account("update_endpoint", {
      endpoint: "income",
      request_id: plant("a request's id"),
      data_available: true,
      ...more,
    });

  /** Runs an action and waits until the code is logged once more. */
  const provoke = async (code: LogCode, action: () => Promise<unknown>) => {
    const before = stage().count(code);
    await action();
    await eventually(() => expect(stage().count(code), code).toBeGreaterThan(before), 100);
  };
  /** Like `provoke`, while something fails. */
  const during = async (end: () => void, code: LogCode, action: () => Promise<unknown>) => {
    try {
      await provoke(code, action);
    } finally {
      end();
    }
  };
  /**
   * Runs the archive until a code is logged: a concurrent erasure hides the dead letters that it searches.
   */
  const archiveUntil = (code: LogCode) => {
    const before = stage().count(code);
    return eventually(async () => {
      await invoke(/Archive/, { beforeEndSeconds: 100_000_000 });
      expect(stage().count(code), code).toBeGreaterThan(before);
    }, 100);
  };
  const archivedReasons = async () =>
    (await stage().objects())
      .filter((text) => text.startsWith("dead-letters/"))
      .flatMap((text) => /"reason":"[^"]*"/.exec(text)?.[0] ?? []);
  const page = (status: number): ProviderAnswer => ({
    status,
    headers: { "content-type": "text/html", "x-error": plantSecret("a header of an error") },
    text: `<html><body>${plantSecret(`the page of a ${status}`)}</body></html>`,
  });
  const forgetReconciliation = async () => {
    const { gatewayUrl: endpointUrl, region, operator: credentials } = stage().stack;
    const client = new DynamoDBClient({ endpoint: endpointUrl, region, credentials });
    await client.send(
      new DeleteItemCommand({ TableName: output("TableName"), Key: marshall(reconciliationKey) }),
    );
    client.destroy();
  };
  /** Reconciliations that receivers requested because of lost webhooks. */
  const requestedRun = async () => {
    const { gatewayUrl: endpointUrl, region, operator: credentials } = stage().stack;
    const client = new DynamoDBClient({ endpoint: endpointUrl, region, credentials });
    const request = await runRequests(client, output("TableName")).load();
    client.destroy();
    return request;
  };
  const enqueue = async (queue: string, MessageBody: string) => {
    const { gatewayUrl: endpointUrl, region, operator: credentials } = stage().stack;
    const client = new SQSClient({ endpoint: endpointUrl, region, credentials });
    const QueueUrl = output(queue);
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...fifoOrder(QueueUrl) }));
    client.destroy();
  };
  const erased = randomUUID();
  const erase = async (id: string) => {
    await provoke("EVENT_STORED", () => send("accounts", account("update_account", { user_id: id })));
    await enqueue("EraseQueueUrl", writeEraseTask(eraseTask({ kind: "user", id }, "operator")));
  };
  const outage = () =>
    during(
      stage().answers(/\/income$/, () => page(503)),
      "PROVIDER_DOWN",
      async () => {
        for (let sent = 0; sent < 6; sent += 1) await send("endpoints", endpoint());
      },
    );
  const reconcile = async () => {
    await forgetReconciliation();
    return invoke(/^Reconcil/);
  };
  const listed = () => ({
    id: randomUUID(),
    name: plant("a listed user"),
    created_at: "2020-01-01 00:00:00 UTC",
  });
  const refreshWith = (next: string) => () => ({
    headers: { "x-answer": plantSecret("a header of the refresh") },
    json: { token: next, note: plantSecret("the refresh") },
  });

  return {
    stage,
    secret,
    currentToken,
    plant,
    plantSecret,
    secrets,
    start,
    close,
    output,
    invoke,
    makeToken,
    setToken,
    setWebhookSecret,
    send,
    user,
    account,
    endpoint,
    provoke,
    during,
    archiveUntil,
    archivedReasons,
    page,
    forgetReconciliation,
    requestedRun,
    enqueue,
    erased,
    erase,
    outage,
    reconcile,
    listed,
    refreshWith,
  };
}
