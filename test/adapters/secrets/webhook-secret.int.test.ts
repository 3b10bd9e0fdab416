import { UpdateSecretVersionStageCommand } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeEach, expect, test } from "vitest";
import { type WebhookSecretStore, webhookSecretStore } from "../../../adapters/secrets/webhook-secret.ts";
import { startTestSystem } from "../../support/engines.ts";

const until = "2026-11-24T12:00:00.000Z";

let secretId: string;
let store: WebhookSecretStore;

const system = await startTestSystem();
afterAll(() => system.close());
beforeEach(() => {
  secretId = system.createSecret({ current: "first" });
  store = webhookSecretStore(system.secretsManager, secretId);
});

test("a secret that replaces another is current at once, with the time of the service's clock", async () => {
  const { versionId, secret } = await store.read();
  expect(secret).toEqual({ current: "first" });
  const before = Date.now();
  await store.replace({ current: "second", previous: { value: "first", until } }, versionId);
  const now = await store.read();
  expect(now).toMatchObject({ secret: { current: "second", previous: { value: "first", until } } });
  expect(now.versionId).not.toBe(versionId);
  expect(now.since.getTime()).toBeGreaterThanOrEqual(Math.floor(before / 1000) * 1000);
});

test("of two that replace the same version at once, one is refused and nothing of the other is lost", async () => {
  const { versionId } = await store.read();
  const results = await Promise.allSettled(
    ["one", "two"].map((current) =>
      store.replace({ current, previous: { value: "first", until } }, versionId),
    ),
  );
  expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(results.find(({ status }) => status === "rejected")).toMatchObject({
    reason: { message: "the webhook secret was changed by another at the same time" },
  });
  const winner = results[0]?.status === "fulfilled" ? "one" : "two";
  expect((await store.read()).secret).toMatchObject({ current: winner, previous: { value: "first" } });
});

test("a version that was set back by hand can be replaced again", async () => {
  const first = await store.read();
  await store.replace({ current: "second" }, first.versionId);
  const second = await store.read();
  await system.secretsManager.send(
    new UpdateSecretVersionStageCommand({
      SecretId: secretId,
      VersionStage: "AWSCURRENT",
      MoveToVersionId: first.versionId,
      RemoveFromVersionId: second.versionId,
    }),
  );
  await store.replace({ current: "third" }, first.versionId);
  expect((await store.read()).secret).toEqual({ current: "third" });
});
