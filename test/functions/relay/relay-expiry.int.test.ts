import { randomBytes, randomUUID } from "node:crypto";
import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { beforeEach, expect, test } from "vitest";
import { batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { noteSuperseded } from "../../../adapters/dynamodb/documents.ts";
import { documentKey, type Key, supersededKey, versionKey } from "../../../adapters/dynamodb/keys.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { documentRead } from "../../domain/samples.ts";
import { describeOnTables } from "../../support/engines.ts";
import { relayFixture } from "../support/relay-fixture.ts";
import { allDone, failedFrom, lambdaRecords } from "../support/relayed-records.ts";
import { savedDocuments } from "../support/saved-documents.ts";

const income = { endpoint: "income" };
const [first, second, third] = [1_900_000_000_000, 1_900_000_001_000, 1_900_000_002_000];
const large = () => JSON.stringify(randomBytes(20_000).toString("base64"));
/** The restore period, plus the longest time of reading a list. */
const expiryAfter = (supersededAt: number) => supersededAt / 1000 + 49 * 86_400;

await describeOnTables("the object of superseded data", (tables) => {
  const fixture = relayFixture(tables);
  let subject: Subject;
  beforeEach(() => {
    subject = { kind: "account", id: randomUUID() };
  });

  const documents = () => savedDocuments(fixture.system, fixture.table, fixture.bucket);
  const note = () => fixture.table.item(...pathOf(supersededKey(subject, income, first)));
  const pathOf = ({ pk, sk }: Key) => [pk, sk] as const;

  async function save(text: string, asOf: number, retainDays?: number): Promise<string> {
    await documents().save(subject, text, { asOf, retainDays });
    return (await documents().load(subject))?.storage.object ?? "";
  }

  /** The note of a process that is killed before it writes the document. */
  async function noteAt(asOf: number): Promise<void> {
    const known = await documents().load(subject);
    if (known === undefined) throw new Error("nothing is stored");
    await noteSuperseded(
      batchingWriter(fixture.system.dynamodb, fixture.table.name),
      known,
      documentRead(known.document, "other", { asOf, subject }),
    );
  }

  async function remove(key: Key): Promise<DynamoDBRecord> {
    const command = new DeleteItemCommand({ TableName: fixture.table.name, Key: marshall(key) });
    await fixture.system.dynamodb.send(command);
    const removals = (await fixture.table.stream()).filter(({ eventName }) => eventName === "REMOVE");
    const [record] = lambdaRecords(removals.slice(-1));
    if (record === undefined) throw new Error("the stream has no removal");
    return record;
  }

  /** The record of a removal this many seconds after the item expired. */
  async function removeAfterExpiry(key: Key, seconds: number): Promise<DynamoDBRecord> {
    const { dynamodb, ...record } = await remove(key);
    const expiresAt = Number(dynamodb?.OldImage?.expiresAt?.N);
    return { ...record, dynamodb: { ...dynamodb, ApproximateCreationDateTime: expiresAt + seconds } };
  }

  /**
   * Expires an item as DynamoDB does in any region.
   * @returns the record as Lambda delivers it
   */
  async function expire(key: Key): Promise<DynamoDBRecord> {
    const record = await removeAfterExpiry(key, 0);
    expect(await fixture.invoke([record])).toEqual(allDone);
    return record;
  }

  test("is deleted once its note expires, the document's own stays, and a repeated record changes nothing", async () => {
    await save(large(), first);
    const live = await save(large(), second);
    expect(await fixture.bucket.keys()).toHaveLength(2);
    expect(await note()).toMatchObject({ expiresAt: expiryAfter(second) });
    const record = await expire(supersededKey(subject, income, first));
    expect(await fixture.bucket.keys()).toEqual([live]);
    expect(await fixture.invoke([record, record])).toEqual(allDone);
    expect(await fixture.bucket.keys()).toEqual([live]);
  });

  test("stays if the writer of the note did not supersede it, and is deleted once somebody does", async () => {
    const object = await save(large(), first);
    await noteAt(second);
    expect(await note()).toMatchObject({ expiresAt: expiryAfter(second) });
    const record = await expire(supersededKey(subject, income, first));
    expect(await fixture.bucket.keys()).toEqual([object]);
    await noteAt(second);
    await save("[3]", third);
    expect(await note()).toMatchObject({ expiresAt: expiryAfter(third) });
    // The late record is about a note that another one has replaced.
    expect(await fixture.invoke([record])).toEqual(allDone);
    expect(await fixture.bucket.keys()).toEqual([object]);
    await expire(supersededKey(subject, income, first));
    expect(await fixture.bucket.keys()).toEqual([]);
  });

  test.each([
    ["before its note", [versionKey, supersededKey]],
    ["after its note", [supersededKey, versionKey]],
  ] as const)("stays as long as its version is kept: that one expires %s", async (_, keys) => {
    const object = await save(large(), first);
    await save("[2]", second, 30);
    const [one, other] = keys;
    await expire(one(subject, income, first));
    expect(await fixture.bucket.keys()).toEqual([object]);
    await expire(other(subject, income, first));
    expect(await fixture.bucket.keys()).toEqual([]);
  });

  test("stays if the document itself is missing: it was lost, and will be restored", async () => {
    const object = await save(large(), first);
    await save("[2]", second);
    await remove(documentKey(subject, income));
    await expire(supersededKey(subject, income, first));
    expect(await fixture.bucket.keys()).toEqual([object]);
  });

  test("stays if its note is deleted before it expires, as in a loss that a restore repairs", async () => {
    await save(large(), first);
    await save("[2]", second);
    const before = await fixture.bucket.keys();
    const record = await removeAfterExpiry(supersededKey(subject, income, first), -1);
    expect(await fixture.invoke([record])).toEqual(allDone);
    expect(await fixture.bucket.keys()).toEqual(before);
  });

  test("is deleted later if the bucket fails: the record is reported and retried", async () => {
    await save(large(), first);
    await save("[2]", second);
    const record = await removeAfterExpiry(supersededKey(subject, income, first), 0);
    const working = fixture.system.fail("s3:DeleteObject");
    expect(await fixture.invoke([record])).toEqual(failedFrom(record));
    working();
    expect(await fixture.invoke([record])).toEqual(allDone);
    expect(await fixture.bucket.keys()).toEqual([]);
  });

  test("has a note, unlike data in its item", async () => {
    await save("[1]", first);
    await save("[2]", second);
    expect(await fixture.table.items(`ACCOUNT#${subject.id}`)).toHaveLength(1);
  });
});
