import { createServer, type IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  authenticator,
  isSigned,
  presentedIn,
  type WebhookSecret,
} from "../../../domain/core/webhook-secret.ts";
import { canaryBody } from "../../../domain/event/canary.ts";
import { type CanaryDependencies, canary } from "../../../functions/canary/canary.ts";
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
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  webhooksUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/webhooks`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function run(secret: WebhookSecret | undefined, changes: Partial<CanaryDependencies> = {}) {
  const { log, entries } = keptLog();
  const ran = canary({
    readSecret: async () => secret,
    ...{ secretHeader, webhooksUrl, newId: () => id, withinSeconds: 300, now: () => noon, log },
    hasArrived: async (awaited) => awaited === id,
    ...changes,
  })();
  return { ran, entries };
}

const inRotation: WebhookSecret = {
  current: "new",
  previous: { value: "old", until: "2026-11-21T13:00:00Z" },
  signing: "key",
};

test.each<[which: string, secret: WebhookSecret]>([
  ["current", { current: "old" }],
  // A receiver may not have read the new one yet.
  ["previous, during a rotation,", inRotation],
])("a canary carries the %s secret, and is signed where bodies are", async (_, secret) => {
  const { ran, entries } = run(secret);
  await ran;
  expect(entries).toEqual([{ code: "CANARY_ARRIVED", correlationId: id }]);
  const [{ url, body, headers } = { url: "", body: "", headers: {} }] = sent;
  expect([url, body]).toEqual(["/webhooks/users", canaryBody(id)]);
  const single = { authorization: headers.authorization };
  expect(authenticator({ current: "old" }, "users")(presentedIn(secretHeader, single), noon)).toBe(true);
  const signature = headers["x-signature"];
  const given = typeof signature === "string" ? signature : undefined;
  expect(isSigned(Buffer.from(body), given, secret, noon)).toBe(true);
});

let minutes = 0;
test.each<[reason: string, status: number, Partial<CanaryDependencies>]>([
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
