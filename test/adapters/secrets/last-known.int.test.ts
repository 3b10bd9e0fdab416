import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { briefRequests, lastKnown, secretReader } from "../../../adapters/secrets/secret-reader.ts";
import { parseWebhookSecret } from "../../../domain/core/webhook-secret.ts";
import { startTestSystem } from "../../support/engines.ts";

let secretId: string;
let time: number;
let fallbacks: string[];
let read: () => Promise<unknown>;
let mend: () => void;

const system = await startTestSystem();
const client = new SecretsManagerClient({ ...system.access, ...briefRequests });
afterAll(async () => {
  client.destroy();
  await system.close();
});
beforeEach(() => {
  secretId = system.createSecret({ current: "first" });
  time = 0;
  fallbacks = [];
  mend = () => undefined;
  const now = () => new Date(time);
  const onFallback = (error: Error) => fallbacks.push(error.name);
  read = lastKnown(secretReader(client, secretId, parseWebhookSecret, { now }).read, { now, onFallback });
});
afterEach(() => mend());

const put = (SecretString: string) =>
  system.secrets.call("PutSecretValue", { SecretId: secretId, SecretString });
const reads = () => system.calls().get("test secretsmanager:GetSecretValue") ?? 0;
const after = (seconds: number) => {
  time = seconds * 1000;
  return read();
};
const failWith = (status: number, errorType: string) =>
  system.intercept(async ({ action }, phase) =>
    phase === "before" && action === "secretsmanager:GetSecretValue"
      ? { status, errorType, message: "injected by the test" }
      : undefined,
  );
const first = { current: "first" };

test.each([
  ["InternalServiceError", () => failWith(500, "InternalServiceError")],
  ["ThrottlingException", () => failWith(400, "ThrottlingException")],
  ["TimeoutError", () => system.intercept(() => new Promise(() => undefined))],
])(
  "the last known value serves for 15 minutes while Secrets Manager answers %s",
  async (name, fail) => {
    expect(await after(0)).toEqual(first);
    mend = fail();
    expect(await after(60)).toEqual(first);
    expect(await after(899)).toEqual(first);
    expect(fallbacks).toEqual([name, name]);
    await expect(after(900)).rejects.toMatchObject({ name });
  },
  20_000,
);

test("an unavailable Secrets Manager is called every 10 seconds, not for each webhook", async () => {
  await after(0);
  mend = system.fail("secretsmanager:GetSecretValue");
  const before = reads();
  for (const seconds of [60, 61, 69.9, 70, 75]) expect(await after(seconds)).toEqual(first);
  expect(fallbacks).toHaveLength(2);
  expect(reads() - before).toBe(2 * briefRequests.maxAttempts);
});

test("a rotation takes effect within a minute of Secrets Manager's return", async () => {
  await after(0);
  mend = system.fail("secretsmanager:GetSecretValue");
  await after(300);
  mend();
  put('{"current":"second"}');
  expect(await after(310)).toEqual({ current: "second" });
});

test.each<[string, string, () => () => void]>([
  ["a refusal", "AccessDeniedException", () => failWith(400, "AccessDeniedException")],
  ["a secret that is gone", "ResourceNotFoundException", () => failWith(400, "ResourceNotFoundException")],
  [
    "a value that can't be parsed",
    "PermanentFailure",
    () => {
      put("plain text");
      return () => undefined;
    },
  ],
])("%s invalidates the last known value at once, even for a later outage", async (_, name, fail) => {
  await after(0);
  mend = fail();
  await expect(after(60)).rejects.toMatchObject({ name });
  mend();
  mend = system.fail("secretsmanager:GetSecretValue");
  await expect(after(61)).rejects.toMatchObject({ $fault: "server" });
  expect(fallbacks).toEqual([]);
});

test("without a known value, an outage is a failure", async () => {
  mend = system.fail("secretsmanager:GetSecretValue");
  await expect(after(0)).rejects.toMatchObject({ $fault: "server" });
});
