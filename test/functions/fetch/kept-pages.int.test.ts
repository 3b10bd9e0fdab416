import { randomUUID } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetObjectCommand, S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { createClients } from "@income-events/cli/core/clients.ts";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { overflowBucket, s3Client } from "../../../adapters/s3/overflow-bucket.ts";
import {
  type KeptPages,
  keptPages,
  type PagesOf,
  type PartialList,
} from "../../../functions/fetch/read-pages.ts";
import { anyCharacter } from "../../support/any-character.ts";
import { startTestSystem, type TestBucket, type TestSystem } from "../../support/engines.ts";

const from = { next: "cursor", pages: 2, mark: "mark" };
const read = { asOf: 20, by: ["m1", "m2"], known: 10 };

describe("the pages of a list that are kept", () => {
  let system: TestSystem;
  let bucket: TestBucket;
  let pages: KeptPages;
  let of: PagesOf;
  beforeAll(async () => {
    system = await startTestSystem();
    bucket = await system.createBucket();
    pages = keptPages(overflowBucket(bucket.name));
  });
  afterAll(() => system.close());
  beforeEach(() => {
    of = { subject: { kind: "account", id: randomUUID() }, endpoint: "income", messageId: randomUUID() };
  });

  const listOf = (...items: readonly string[]): PartialList => ({
    read,
    from,
    items: items.map((item) => Buffer.from(item)),
  });
  const found = async (which = of) => {
    const list = await pages.find(which);
    return list && { ...list, items: Buffer.concat(list.items).toString() };
  };

  test("are returned unchanged whatever the provider's items contain, including line breaks", async () => {
    const item = fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom("\n", "{}\n{}", ""));
    const known = fc.option(fc.nat(), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 4 }), known, async (items, asOf) => {
        const given = { ...listOf(...items), read: { ...read, known: asOf } };
        await pages.keep(of, given);
        expect(await found()).toEqual({ ...given, items: Buffer.concat(given.items).toString() });
      }),
      { numRuns: 30 },
    );
  });

  test("are empty if nothing was saved, or they were deleted", async () => {
    expect(await found()).toBeUndefined();
    await pages.keep(of, listOf("1"));
    await pages.forget(of);
    expect(await found()).toBeUndefined();
    await pages.keep(of, listOf("2"));
    expect(await found()).toMatchObject({ items: "2" });
  });

  test("are an error, not missing, if KMS refuses to decrypt them", async () => {
    await pages.keep(of, listOf("1"));
    const recover = system.intercept(async ({ action }, phase) =>
      phase === "before" && action === "s3:GetObject"
        ? {
            status: 403,
            errorType: "AccessDenied",
            message:
              "User: arn:aws:sts::111111111111:assumed-role/r/s is not authorized to perform: kms:Decrypt",
          }
        : undefined,
    );
    await expect(found()).rejects.toMatchObject({ name: "AccessDenied" });
    recover();
    expect(await found()).toMatchObject({ items: "1" });
  });

  test("are those of one message: another that reads the same document has its own", async () => {
    await pages.keep(of, listOf("1"));
    expect(await found({ ...of, messageId: "another" })).toBeUndefined();
    const range = { start: "2026-01-01", end: "2026-01-31" };
    expect(await found({ ...of, range })).toBeUndefined();
  });

  test("are stored under their subject's name, where an erasure finds them", async () => {
    await pages.keep(of, listOf("1"));
    const prefix = `pages/account/${of.subject.id}/income/`;
    expect((await bucket.keys()).filter((key) => key.startsWith(prefix))).toEqual([
      `${prefix}${of.messageId}.gz`,
    ]);
  });
});

const system = await startTestSystem();
afterAll(() => system.close());
afterEach(() => vi.unstubAllEnvs());

const byName = system.access.endpoint.replace("127.0.0.1", "localhost");
const configFile = join(mkdtempSync(join(tmpdir(), "aws-")), "config");
writeFileSync(configFile, `[profile emulated]\nendpoint_url = ${byName}\n`);

/** URL to which a client would send a request for an object of the bucket `kept`. */
async function addressOf(settings: S3ClientConfig): Promise<string> {
  let address = "";
  const client = s3Client(S3Client, {
    region: "eu-central-1",
    credentials: { accessKeyId: "A", secretAccessKey: "S" },
    requestHandler: {
      handle: async ({ hostname, path }: { hostname: string; path: string }) => {
        address = hostname + path;
        throw new Error("not sent");
      },
    },
    maxAttempts: 1,
    ...settings,
  });
  await expect(client.send(new GetObjectCommand({ Bucket: "kept", Key: "a/b" }))).rejects.toThrow("not sent");
  return address;
}

test.each<[string, Record<string, string>, S3ClientConfig, string]>([
  ["AWS_ENDPOINT_URL", { AWS_ENDPOINT_URL: byName }, {}, "localhost/kept/a/b"],
  ["an endpoint of S3 alone", { AWS_ENDPOINT_URL_S3: "http://s3.test:9000" }, {}, "s3.test/kept/a/b"],
  ["the client's settings", {}, { endpoint: "https://emulator.test" }, "emulator.test/kept/a/b"],
  [
    "AWS's configuration file",
    { AWS_CONFIG_FILE: configFile, AWS_PROFILE: "emulated" },
    {},
    "localhost/kept/a/b",
  ],
  ["nothing", {}, {}, "kept.s3.eu-central-1.amazonaws.com/a/b"],
])("a bucket's name is part of the path if an endpoint is set, by %s", async (_, env, settings, address) => {
  vi.stubEnv("AWS_ENDPOINT_URL", "");
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  expect(await addressOf(settings)).toBe(address);
});

test.each([
  ["a function", (_: object) => undefined],
  ["a command", (client: { region: string }) => createClients({ client }).s3],
])("%s uses S3 at http://localhost, named in AWS_ENDPOINT_URL", async (_, clientOf) => {
  vi.stubEnv("AWS_ENDPOINT_URL", byName);
  const bucket = await system.createBucket();
  const objects = overflowBucket(bucket.name, clientOf({ region: system.access.region }));
  await objects.put("a/b", "content");
  expect(Buffer.from(await objects.get("a/b")).toString()).toBe("content");
});
