import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type KeptPages,
  keptPages,
  type PagesOf,
  type PartialList,
} from "../../../adapters/s3/kept-pages.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
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

  test("come back whatever the provider's items hold, line ends too", async () => {
    const item = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\n", "{}\n{}", ""));
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

  test("are none where nothing was kept, or they were forgotten", async () => {
    expect(await found()).toBeUndefined();
    await pages.keep(of, listOf("1"));
    await pages.forget(of);
    expect(await found()).toBeUndefined();
    await pages.keep(of, listOf("2"));
    expect(await found()).toMatchObject({ items: "2" });
  });

  test("are an error, not none, where KMS refuses to decrypt them", async () => {
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

  test("lie under their subject's name, where an erasure finds them", async () => {
    await pages.keep(of, listOf("1"));
    const prefix = `pages/account/${of.subject.id}/income/`;
    expect((await bucket.keys()).filter((key) => key.startsWith(prefix))).toEqual([
      `${prefix}${of.messageId}.gz`,
    ]);
  });
});
