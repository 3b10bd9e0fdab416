import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  briefRequests,
  keptForInSeconds,
  lastKnown,
  type SecretReader,
  secretReader,
} from "../../../adapters/secrets/secret-reader.ts";
import { permanent } from "../../../domain/core/failures.ts";
import { startTestSystem } from "../../support/engines.ts";

let secretId: string;
let time: number;
let reader: SecretReader<string>;

const system = await startTestSystem();
afterAll(() => system.close());
beforeEach(() => {
  secretId = system.createSecret("first");
  time = Date.parse("2026-11-21T12:00:00Z");
  reader = secretReader(system.secretsManager, secretId, parse, { now: () => new Date(time) });
});

function parse(text: string): string {
  if (text === "broken") throw permanent("the secret is broken");
  return `parsed ${text}`;
}

const rotate = (value: string) =>
  system.secrets.call("PutSecretValue", { SecretId: secretId, SecretString: value });
const reads = () => system.calls().get("test secretsmanager:GetSecretValue") ?? 0;

test("a value is read once and cached for 60 seconds, whatever the number of callers", async () => {
  const before = reads();
  expect(await Promise.all([reader.read(), reader.read(), reader.read()])).toEqual(
    Array.from({ length: 3 }, () => "parsed first"),
  );
  rotate("second");
  time += 59_999;
  expect(await reader.read()).toBe("parsed first");
  expect(reads() - before).toBe(1);
  time += 1;
  expect(await reader.read()).toBe("parsed second");
  expect(reads() - before).toBe(2);
  expect(keptForInSeconds).toBe(60);
});

test("the cache time can be set", async () => {
  const brief = secretReader(system.secretsManager, secretId, parse, {
    now: () => new Date(time),
    keptFor: 2,
  });
  await brief.read();
  rotate("second");
  time += 1_999;
  expect(await brief.read()).toBe("parsed first");
  time += 1;
  expect(await brief.read()).toBe("parsed second");
});

test("a forced read returns the current value at once, and caches it", async () => {
  await reader.read();
  rotate("second");
  expect(await reader.readAgain()).toBe("parsed second");
  const before = reads();
  expect(await reader.read()).toBe("parsed second");
  expect(reads()).toBe(before);
});

test("a failed read fails for all callers waiting for it, and is not cached", async () => {
  const working = system.fail("secretsmanager:GetSecretValue");
  const outcomes = await Promise.allSettled([reader.read(), reader.read()]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  working();
  expect(await reader.read()).toBe("parsed first");
});

test("a value that cannot be parsed is not cached", async () => {
  rotate("broken");
  await expect(reader.read()).rejects.toThrow("the secret is broken");
  rotate("fixed");
  expect(await reader.read()).toBe("parsed fixed");
});

test("a failed read does not replace the value of a later one", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let calls = 0;
  const working = system.intercept(async ({ action }, phase) => {
    if (action !== "secretsmanager:GetSecretValue" || phase !== "before") return undefined;
    calls += 1;
    if (calls > 1) return undefined;
    await held;
    return { status: 500, errorType: "InternalServiceError", message: "injected" };
  });
  const slow = reader.read();
  expect(await reader.readAgain()).toBe("parsed first");
  release();
  await expect(slow).rejects.toThrow("injected");
  working();
  const before = reads();
  expect(await reader.read()).toBe("parsed first");
  expect(reads()).toBe(before);
});

describe("the last known value", () => {
  const client = new SecretsManagerClient({ ...system.access, ...briefRequests });
  afterAll(() => client.destroy());
  let fallbacks: string[];
  let read: () => Promise<string>;
  let mend: () => void;
  beforeEach(() => {
    fallbacks = [];
    mend = () => undefined;
    time = 0;
    const now = () => new Date(time);
    const onFallback = (error: Error) => fallbacks.push(error.name);
    read = lastKnown(secretReader(client, secretId, parse, { now }).read, { now, onFallback });
  });
  afterEach(() => mend());
  const readAt = (seconds: number) => {
    time = seconds * 1000;
    return read();
  };
  const failWith = (status: number, errorType: string) =>
    system.intercept(async ({ action }, phase) =>
      phase === "before" && action === "secretsmanager:GetSecretValue"
        ? { status, errorType, message: "injected by the test" }
        : undefined,
    );

  test.each([
    ["InternalServiceError", () => failWith(500, "InternalServiceError")],
    ["ThrottlingException", () => failWith(400, "ThrottlingException")],
    ["TimeoutError", () => system.intercept(() => new Promise(() => undefined))],
  ])(
    "the last known value serves for 15 minutes while Secrets Manager answers %s",
    async (name, fail) => {
      expect(await readAt(0)).toBe("parsed first");
      mend = fail();
      expect(await readAt(60)).toBe("parsed first");
      expect(await readAt(899)).toBe("parsed first");
      expect(fallbacks).toEqual([name, name]);
      await expect(readAt(900)).rejects.toMatchObject({ name });
    },
    20_000,
  );

  test("an unavailable Secrets Manager is called every 10 seconds, not for each webhook", async () => {
    await readAt(0);
    mend = system.fail("secretsmanager:GetSecretValue");
    const before = reads();
    for (const seconds of [60, 61, 69.9, 70, 75]) expect(await readAt(seconds)).toBe("parsed first");
    expect(fallbacks).toHaveLength(2);
    expect(reads() - before).toBe(2 * briefRequests.maxAttempts);
  });

  test("a rotation takes effect within a minute of Secrets Manager's return", async () => {
    await readAt(0);
    mend = system.fail("secretsmanager:GetSecretValue");
    await readAt(300);
    mend();
    rotate("second");
    expect(await readAt(310)).toBe("parsed second");
  });

  test.each<[string, string, () => () => void]>([
    ["a refusal", "AccessDeniedException", () => failWith(400, "AccessDeniedException")],
    ["a secret that is gone", "ResourceNotFoundException", () => failWith(400, "ResourceNotFoundException")],
    [
      "a value that can't be parsed",
      "PermanentFailure",
      () => {
        rotate("broken");
        return () => undefined;
      },
    ],
  ])("%s invalidates the last known value at once, even for a later outage", async (_, name, fail) => {
    await readAt(0);
    mend = fail();
    await expect(readAt(60)).rejects.toMatchObject({ name });
    mend();
    mend = system.fail("secretsmanager:GetSecretValue");
    await expect(readAt(61)).rejects.toMatchObject({ $fault: "server" });
    expect(fallbacks).toEqual([]);
  });

  test("without a known value, an outage is a failure", async () => {
    mend = system.fail("secretsmanager:GetSecretValue");
    await expect(readAt(0)).rejects.toMatchObject({ $fault: "server" });
  });
});
