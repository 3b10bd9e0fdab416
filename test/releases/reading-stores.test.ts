import { marshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { digestOf } from "../../adapters/aws/compressed.ts";
import { dataClaims } from "../../adapters/dynamodb/claims.ts";
import { contentOf, contentReader } from "../../adapters/dynamodb/document-store.ts";
import { eventTable } from "../../adapters/dynamodb/event-table.ts";
import { tombstoneKey } from "../../adapters/dynamodb/keys.ts";
import { partitions } from "../../adapters/dynamodb/partitions.ts";
import { versionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import { readErasureLog } from "../../adapters/erasure/erasure-log.ts";
import { readReport } from "../../adapters/erasure/erasure-report.ts";
import { findErased } from "../../adapters/erasure/tombstones.ts";
import { rateLimiter } from "../../adapters/provider/rate-limiter.ts";
import { refusalNote } from "../../adapters/provider/refusal-note.ts";
import { sharedBreaker } from "../../adapters/provider/shared-breaker.ts";
import { keptPages } from "../../adapters/s3/kept-pages.ts";
import { overflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import { deadLetterArchive } from "../../adapters/sqs/dead-letter-archive.ts";
import { readChange } from "../../adapters/streams/change-stream.ts";
import { checkpoint } from "../../adapters/streams/checkpoint.ts";
import { fieldsOf, present } from "../../domain/core/parse.ts";
import { nameOf } from "../../domain/event/subjects.ts";
import type { DeadLetter } from "../../domain/recovery/dead-letter.ts";
import { receiptOf } from "../adapters/dynamodb/receipt.ts";
import { describeOnEachTable, startTestSystem, type TestSystem } from "../support/engines.ts";
import { type LeftBehind, leaveBehind } from "./leave-behind.ts";
import { releases } from "./sample-files.ts";
import { event, income, noon, ranged, subject, user } from "./sample-subjects.ts";
import { takenAway } from "./samples.ts";
import {
  breakerSettings,
  callsPerMinute,
  claimSeconds,
  deadLetter,
  erasureDigest,
  largeData,
  pages,
} from "./write-stores.ts";

const now = () => noon;

await describeOnEachTable("items and objects", (tables) => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  afterAll(() => system.close());

  describe.each(releases)("of release $version", ({ samples }) => {
    let left: LeftBehind;
    beforeAll(async () => {
      left = await leaveBehind(system, samples);
    });
    const { items = {}, objects = {} } = samples;
    const objectsIn = (prefix: string) => Object.keys(objects).filter((key) => key.startsWith(prefix));
    const itemsOf = (kind: string) =>
      Object.entries(items).flatMap(([key, item]) => (key.includes(` ${kind}`) ? [fieldsOf(item, key)] : []));

    it("states and documents are understood whole", async () => {
      const kept = versionedRecords(system.dynamodb, left.table.name);
      const [state] = itemsOf("STATE");
      expect(takenAway(state?.state, await kept.loadState(subject))).toEqual([]);
      const documents = itemsOf("DATA").map(({ data }) => data);
      expect(takenAway(documents[0], await kept.loadDocument(subject, income))).toEqual([]);
      expect(takenAway({ documents }, { documents: await kept.loadDocuments(subject) })).toEqual([]);
      const { documentsOf } = partitions(system.dynamodb, left.table.name);
      expect(takenAway({ documents }, { documents: await documentsOf(subject) })).toEqual([]);
    });

    it.each(["EVENT", "STATE", "DATA"])("the stream's image of %s is understood whole", (kind) => {
      const images = itemsOf(kind);
      expect(images).not.toEqual([]);
      for (const image of images) {
        const change = readChange({ dynamodb: { NewImage: marshall(image) } });
        const told = change.of === "event" ? change : { [change.of]: change.after };
        const { event, receipts, state, data } = image;
        expect(takenAway(present({ event, receipts, state, data }), told)).toEqual([]);
      }
    });

    it("an event is known again, and an account's user", async () => {
      const record = eventTable(system.dynamodb, left.table.name, 90);
      expect(await record([receiptOf(event)])).toEqual(["again"]);
      expect(await partitions(system.dynamodb, left.table.name).accountsOf(user.id)).toEqual([subject.id]);
    });

    it("data is found, in the table and in the bucket, and so are the pages of a list", async () => {
      const bucket = overflowBucket(left.bucket.name);
      const read = contentReader(system.dynamodb, left.table.name, bucket);
      expect(await read(subject, income)).toEqual(contentOf('{"gross":12.50}'));
      expect((await read(subject, ranged))?.digest).toBe(contentOf(largeData).digest);
      const found = await keptPages(bucket).find(subject, income, digestOf(pages));
      expect(Buffer.from(found ?? [])).toEqual(Buffer.concat(pages));
    });

    it.each(itemsOf("TOMBSTONE"))("whom $pk stands for is erased, by item and by log", async ({ pk }) => {
      const erased = findErased(system.dynamodb, left.table.name, () => erasureDigest(system));
      expect(await erased([user])).toEqual(new Set([nameOf(user)]));
      const digests = await readErasureLog(system.s3, left.bucket.name);
      expect([...digests].map((digest) => tombstoneKey(digest).pk)).toEqual([pk]);
    });

    it.each(itemsOf("REPORT"))("a report of an erasure is understood", async () => {
      const report = {
        step: "records",
        isDone: true,
        isFound: false,
        subjects: 0,
        removed: {},
        incomplete: [],
      };
      expect(await readReport(system.dynamodb, left.table.name, "id")).toEqual(report);
    });

    it.each(objectsIn("letters/"))("the archived dead letter %s is understood whole", async () => {
      const shown: DeadLetter[] = [];
      await deadLetterArchive(system.s3, left.bucket.name).place("users")(async (deadLetters) => {
        shown.push(...deadLetters);
        return { done: [], isEnough: true };
      });
      expect(shown).toEqual([deadLetter]);
    });

    it("claims, windows, the breaker, notes and the checkpoint are heeded", async () => {
      const { dynamodb } = system;
      const { name } = left.table;
      const claim = dataClaims(dynamodb, name, claimSeconds, now)(subject, income, 1, noon);
      await expect(claim).rejects.toMatchObject({ failure: { delayInSeconds: claimSeconds } });
      const { permit } = rateLimiter(dynamodb, name, callsPerMinute, { now });
      await expect(permit()).rejects.toMatchObject({ failure: { waitsFor: "permit" } });
      const breaker = sharedBreaker(dynamodb, name, {
        settings: breakerSettings,
        longestCallInSeconds: 10,
        now,
        random: () => 0.5,
        onStateChange: () => undefined,
      });
      await expect(breaker.gate()).rejects.toMatchObject({ failure: { waitsFor: "provider" } });
      expect(await refusalNote(dynamodb, name).note("refused", false)).toBe("known");
      const item = fieldsOf(items["RECONCILE USERS"], "the checkpoint");
      expect(takenAway(item.run, await checkpoint(dynamodb, name).load())).toEqual([]);
    });
  });
});
