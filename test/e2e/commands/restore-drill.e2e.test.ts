import { isDeepStrictEqual } from "node:util";
import { CreateTableCommand, DeleteItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { DeleteObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { marshall } from "@aws-sdk/util-dynamodb";
import { subscribersOf } from "@income-events/local-stack/outputs.ts";
import { invoke } from "@income-events/local-stack/system.ts";
import { expect, it } from "vitest";
import { z } from "zod";
import { documentPrefix } from "../../../adapters/dynamodb/keys.ts";
import { progressOf } from "../../../domain/event/event-progress.ts";
import { parseEvent } from "../../../domain/event/events.ts";
import { parseReceipts } from "../../../domain/event/receipts.ts";
import { nameOf, subjectOf } from "../../../domain/event/subjects.ts";
import { type Document, parseDocument } from "../../../domain/fetch/document.ts";
import { clientsOf } from "../../../proof/scenario/clients.ts";
import { readBodies, readItems, readObjects } from "../../../proof/scenario/snapshot.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import { startOperatedStage } from "../../support/operated-stage.ts";

const vaultArn = "arn:aws:backup:eu-west-1:210987654321:backup-vault:income-events";
const restoredName = "restored-by-the-drill";

type Item = Awaited<ReturnType<typeof readItems>>[number];
const keyed = z.object({ pk: z.string(), sk: z.string() });

/** Follows docs/operate/restore.md, but restores into the same stage; in AWS, a new stage is deployed. */
it("after the loss of an account, a restore brings back everything except erased users, and its effects", async () => {
  await using operated = await startOperatedStage("drill", { recovery: { vaultArn } });
  const { system } = operated;
  const { sandbox, stack, access } = system;
  using clients = clientsOf(access);
  const { dynamodb, s3 } = clients;
  const { output } = operated;
  const TableName = output("TableName");
  const [overflow, log] = [output("OverflowBucketName"), output("ErasureLogBucketName")];
  const SecretId = output("ErasureKeyArn");
  const idle = () => waitUntilIdle(system);
  const command = async (...args: readonly string[]) =>
    expect(await operated.run([...args, "--yes"])).toMatchObject({ code: 0 });
  const put = (name: string, item: Item) =>
    dynamodb.send(new PutItemCommand({ TableName: name, Item: marshall(item) }));
  const drainSubscribers = async () => {
    const bodies = subscribersOf(stack).map(({ queueUrl }) => readBodies(access, queueUrl));
    return (await Promise.all(bodies)).flat();
  };

  const { users, accounts } = await sandbox.createUsers(2, { pictures: 1 });
  await idle();
  const [user = "", account = ""] = [users[0], accounts[0]];

  const before = await readItems(access, TableName);
  const objects = await readObjects(access, overflow);
  const erasureKey = stack.secretValue(SecretId);
  // A restore from a backup creates a table without a stream.
  await dynamodb.send(
    new CreateTableCommand({
      TableName: restoredName,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      AttributeDefinitions: ["pk", "sk"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    }),
  );
  for (const item of before) await put(restoredName, item);

  // After the backup one user is erased, and one registers.
  await command("erase", "user", user);
  const { users: unannounced } = await sandbox.createUsers(1);
  await idle();
  const erasures = await readObjects(access, log);

  // The account is lost. A new stage has another key of erasures.
  for (const item of await readItems(access, TableName))
    await dynamodb.send(new DeleteItemCommand({ TableName, Key: marshall(keyed.parse(item)) }));
  for (const Bucket of [overflow, log])
    for (const Key of (await readObjects(access, Bucket)).keys())
      await s3.send(new DeleteObjectCommand({ Bucket, Key }));
  await stack.setSecret(SecretId, JSON.stringify({ key: "of a new account" }));
  await drainSubscribers();

  await stack.setSecret(SecretId, erasureKey);
  for (const [Bucket, backup] of [
    [log, erasures],
    [overflow, objects],
  ] as const)
    for (const [Key, Body] of backup) await s3.send(new PutObjectCommand({ Bucket, Key, Body }));
  await command("restore", restoredName);
  await idle();
  // A person restores an item of the erased account by hand.
  const ofErased = before.find((item) => keyOf(item).startsWith(`ACCOUNT#${account}#${documentPrefix}`));
  await put(TableName, ofErased ?? expect.unreachable("the backup has no data of the account"));
  expect(await operated.run(["erase", "apply-log"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/1 users and accounts of the stage drill were erased[\s\S]*--yes/),
  });
  await command("erase", "apply-log");
  expect(await operated.run(["erase", "apply-log"])).toMatchObject({
    code: 0,
    stdout: "None of the 2 erased users and accounts is in the table.\n",
  });
  await command("repair", "--all");
  await idle();
  await invoke(stack, output("ReconcileFunctionName"));
  await idle();

  const found: Found = {
    before,
    after: await readItems(access, TableName),
    keys: [...(await readObjects(access, overflow)).keys()],
    erased: [user, account],
    messages: await drainSubscribers(),
    unannounced,
  };
  expect(problemsOf(found)).toEqual([]);
});

/** Contents of the engines before the loss and after the restore. */
type Found = {
  readonly before: readonly Item[];
  readonly after: readonly Item[];
  /** Keys of the objects in the bucket of bodies and documents. */
  readonly keys: readonly string[];
  /** Ids of subjects that were erased between backup and loss. */
  readonly erased: readonly string[];
  /** Subscribers' messages since the loss. */
  readonly messages: readonly string[];
  /** Ids of users who registered at the provider after the backup. */
  readonly unannounced: readonly string[];
};

/** Items that a restore leaves out: pacing, progress, tombstones. */
const notRestored = /^(PROVIDER|RECONCILE|REPLAY|ERASED|ERASURE)#/;

const typed = z.object({ type: z.string() });
/** Values that must not decrease: a state's version and a document's `asOf`. */
const rising = z.union([
  z.object({ state: z.object({ version: z.number() }) }).transform(({ state }) => state.version),
  z.object({ document: z.object({ asOf: z.number() }) }).transform(({ document }) => document.asOf),
]);

/** The problems after a restore, one sentence each. */
function problemsOf({ before, after, keys, erased, messages, unannounced }: Found): readonly string[] {
  const isErased = (text: string) => erased.some((id) => text.includes(id));
  const found = new Map(after.map((item) => [keyOf(item), item]));
  const expected = before.filter((item) => !notRestored.test(keyOf(item)) && !isErased(JSON.stringify(item)));
  return [
    ...[...found.entries()]
      .filter(([, item]) => isErased(JSON.stringify(item)))
      .map(([key]) => `an erased user is back: ${key}`),
    ...keys.filter(isErased).map((key) => `an erased user's object is back: ${key}`),
    ...messages
      .filter((message) => isErased(message) && !typed.parse(JSON.parse(message)).type.endsWith(".erased"))
      .map(() => "a subscriber was sent an erased user"),
    ...expected.flatMap((item) => lossOf(keyOf(item), item, found.get(keyOf(item)))),
    ...eventsBehind(found),
    ...unannounced
      .filter((id) => !found.has(`USER#${id}#STATE`))
      .map((id) => `user ${id} was not found again`),
    ...(messages.length === 0 ? ["no subscriber was sent anything"] : []),
  ];
}

function lossOf(key: string, before: Item, after: Item | undefined): readonly string[] {
  if (after === undefined) return [`${key} is missing`];
  const [was, is] = [rising.safeParse(before), rising.safeParse(after)];
  if (was.success && (!is.success || is.data < was.data)) {
    return [`${key} started over: ${is.data ?? "nothing"} after ${was.data}`];
  }
  const isEvent = key.includes("#EVENT#");
  return isEvent && !isDeepStrictEqual(before.event, after.event) ? [`${key} is another event`] : [];
}

/** Events whose documents were not read since. */
function eventsBehind(found: ReadonlyMap<string, Item>): readonly string[] {
  const documents = Map.groupBy(
    [...found.values()].flatMap(({ document }): readonly Document[] =>
      document === undefined ? [] : [parseDocument(document)],
    ),
    ({ subject }) => nameOf(subject),
  );
  return [...found].flatMap(([key, item]) => {
    if (!key.includes("#EVENT#")) return [];
    const event = parseEvent(item.event);
    if (event.endpoint === undefined) return [];
    const records = { state: undefined, documents: documents.get(nameOf(subjectOf(event))) ?? [] };
    const { state } = progressOf({ event, receipts: parseReceipts(item.receipts) }, records);
    return state === "done" ? [] : [`what ${key} announced was not fetched again`];
  });
}

function keyOf(item: Item): string {
  const { pk, sk } = keyed.parse(item);
  return `${pk}#${sk}`;
}
