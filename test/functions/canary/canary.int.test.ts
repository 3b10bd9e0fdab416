import { createServer, type IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { closeServer, listen } from "@income-events/local-stack/http-server.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  authenticator,
  isSigned,
  presentedIn,
  type WebhookSecret,
} from "../../../domain/core/webhook-secret.ts";
import { canaryBody } from "../../../domain/event/events.ts";
import { canary } from "../../../functions/canary/canary.ts";
import { keptLog } from "../support/lambda.ts";

const id = "7d0b2f53-6d55-4f3a-9a3e-3a3c1f1c6a10";
const noon = new Date("2026-11-21T12:00:00Z");
const secretHeader = { name: "authorization", scheme: "Basic" } as const;

let webhooksUrl: string;
let status: number;
let sent: { readonly url: string; readonly body: string; readonly headers: IncomingHttpHeaders }[];
const server = createServer(async (request, response) => {
  sent.push({ url: request.url ?? "", body: await text(request), headers: request.headers });
  response.writeHead(status).end();
});

beforeEach(async () => {
  [status, sent] = [202, []];
  webhooksUrl = `http://127.0.0.1:${await listen(server)}/webhooks`;
});
afterEach(() => closeServer(server));

function run(secret: WebhookSecret | undefined, changes: Partial<Parameters<typeof canary>[0]> = {}) {
  const { log, entries } = keptLog();
  const ran = canary({
    readSecret: async () => secret,
    ...{ secretHeader, webhooksUrl, newId: () => id, withinSeconds: 300, now: () => noon, log },
    hasArrived: async (awaited) => awaited === id,
    ...changes,
  })();
  return { ran, entries };
}

const [until, past] = ["2026-11-21T13:00:00Z", "2026-11-21T11:00:00Z"];

test.each<[when: string, secret: WebhookSecret, before: WebhookSecret]>([
  ["without a signing secret", { current: "a" }, { current: "a" }],
  [
    "during a rotation",
    { current: "b", previous: { value: "a", until }, signing: "k" },
    { current: "a", signing: "k" },
  ],
  [
    "after a rotation",
    { current: "b", previous: { value: "a", until: past }, signing: "k" },
    { current: "b", signing: "k" },
  ],
  [
    "during a rotation of the signing secret",
    { current: "a", signing: "l", previousSigning: { value: "k", until } },
    { current: "a", signing: "k" },
  ],
  [
    "after the signing secret was removed",
    { current: "a", previousSigning: { value: "k", until } },
    { current: "a", signing: "k" },
  ],
  ["after the first signing secret was set", { current: "a", signing: "k" }, { current: "a" }],
])("a canary passes receivers with the newest secret and the one before: %s", async (_, secret, before) => {
  const { ran, entries } = run(secret);
  await ran;
  expect(entries).toEqual([{ code: "CANARY_ARRIVED", correlationId: id }]);
  const [{ url, body, headers } = { url: "", body: "", headers: {} }] = sent;
  expect([url, body]).toEqual(["/webhooks/users", canaryBody(id)]);
  const { authorization, "x-signature": signature } = headers;
  const given = typeof signature === "string" ? signature : undefined;
  for (const known of [secret, before]) {
    expect(authenticator(known, "users")(presentedIn(secretHeader, { authorization }), noon)).toBe(true);
    expect(isSigned(Buffer.from(body), given, known, noon)).toBe(true);
  }
});

let minutes = 0;
test.each<[reason: string, status: number, Partial<Parameters<typeof canary>[0]>]>([
  ["the API answered 503", 503, {}],
  ["the API does not answer (TypeError)", 202, { webhooksUrl: "http://127.0.0.1:1" }],
  ["the webhook secret has no value", 202, { readSecret: async () => undefined }],
  [
    "it did not arrive within 300 s",
    202,
    {
      hasArrived: async () => false,
      now: () => {
        minutes += 1;
        return new Date(noon.getTime() + minutes * 60_000);
      },
    },
  ],
])("a run fails, and says: %s", async (reason, answered, changes) => {
  status = answered;
  const { ran, entries } = run({ current: "secret" }, changes);
  await expect(ran).rejects.toThrow(reason);
  expect(entries).toEqual([{ code: "CANARY_MISSING", correlationId: id, reason }]);
});
