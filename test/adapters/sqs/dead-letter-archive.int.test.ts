import { DeleteObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type DeadLetterArchive, deadLetterArchive } from "../../../adapters/sqs/dead-letter-archive.ts";
import type { DeadLetter } from "../../../domain/recovery/dead-letter.ts";
import { startTestSystem, type TestBucket } from "../../support/engines.ts";

const deadLetterOf = (number: number): DeadLetter => ({
  messageId: `m-${number}`,
  sentAt: new Date("2026-11-07T23:59:59.999Z"),
  receives: 2,
  body: `letter ${number}`,
});

const system = await startTestSystem();
afterAll(() => system.close());

describe("the archive of dead letters", () => {
  let bucket: TestBucket;
  let archive: DeadLetterArchive;
  beforeEach(async () => {
    bucket = await system.createBucket();
    archive = deadLetterArchive(system.s3, bucket.name);
    await Promise.all(Array.from({ length: 12 }, (_, number) => archive.put("users", deadLetterOf(number))));
  });

  it("returns each dead letter unchanged, in batches of ten, and keeps those that are not done", async () => {
    const seen: DeadLetter[] = [];
    const result = await archive.source("users")(async (deadLetters) => {
      expect(deadLetters.length).toBeLessThanOrEqual(10);
      seen.push(...deadLetters);
      return { done: deadLetters.filter(({ messageId }) => messageId === "m-3"), isEnough: false };
    });
    expect(result).toEqual({ notRemoved: 0, mayHaveMore: false, refused: 0 });
    expect(seen.toSorted((a, b) => Number(a.messageId.slice(2)) - Number(b.messageId.slice(2)))).toEqual(
      Array.from({ length: 12 }, (_, number) => deadLetterOf(number)),
    );
    expect(await archive.count("users")).toBe(11);
    expect(await bucket.keys()).not.toContain("dead-letters/users/2026-11-07/m-3.json");
  });

  it("returns unreadable objects as dead letters too, with their text, so that they can be removed", async () => {
    const Key = "dead-letters/users/2026-11-07/broken.json";
    await system.s3.send(new PutObjectCommand({ Bucket: bucket.name, Key, Body: "{ user 7" }));
    const seen: DeadLetter[] = [];
    await archive.source("users")(async (deadLetters) => {
      seen.push(...deadLetters);
      return { done: deadLetters.filter(({ body }) => body === "{ user 7"), isEnough: false };
    });
    expect(seen).toHaveLength(13);
    expect(await bucket.keys()).not.toContain(Key);
    expect(await archive.count("users")).toBe(12);
  });

  it("stores a dead letter once, however often it is written", async () => {
    await archive.put("users", deadLetterOf(1));
    expect(await archive.count("users")).toBe(12);
  });

  it("stops reading when the caller is done", async () => {
    let batches = 0;
    await archive.source("users")(async () => {
      batches += 1;
      return { done: [], isEnough: true };
    });
    expect(batches).toBe(1);
  });

  it("skips a dead letter that another reader took meanwhile", async () => {
    const seen: DeadLetter[] = [];
    await archive.source("users")(async (deadLetters) => {
      seen.push(...deadLetters);
      // The last two, which are in the next batch.
      for (const Key of (await bucket.keys()).slice(10))
        await system.s3.send(new DeleteObjectCommand({ Bucket: bucket.name, Key }));
      return { done: [], isEnough: false };
    });
    expect(seen).toHaveLength(10);
  });

  it("reports how many could not be removed", async () => {
    const endFault = system.fail("s3:DeleteObject", "m-5.json");
    const result = await archive.source("users")(async (done) => ({ done, isEnough: false }));
    endFault();
    expect(result).toEqual({ notRemoved: 1, mayHaveMore: false, refused: 0 });
    expect(await bucket.keys()).toEqual(["dead-letters/users/2026-11-07/m-5.json"]);
  });

  it("leaves objects of a later release in place", async () => {
    const Body = JSON.stringify({ schemaVersion: 3 });
    const Key = "dead-letters/users/2026-11-07/a.json";
    await system.s3.send(new PutObjectCommand({ Bucket: bucket.name, Key, Body }));
    await expect(archive.source("users")(async () => ({ done: [], isEnough: false }))).rejects.toThrow(
      "schemaVersion: 3 is of a later release",
    );
  });
});
