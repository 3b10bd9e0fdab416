import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { CreateQueueCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { deadLetterQueuesOf, outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { expect, it } from "vitest";
import { everywhereIn, findRemains, marksOf, storesIn } from "../../../proof/chaos/audit/find-remains.ts";
import { clientsOf, fifoOrder } from "../../../proof/scenario/clients.ts";
import { readBodies } from "../../../proof/scenario/snapshot.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import type { OperatedStage } from "../../support/operated-stage.ts";

type Person = { readonly userId: string; readonly accountId: string };

/** Too large for a message or an item. */
const padding = "x".repeat(400_000);
/** The 14 days for which a queue keeps a message: every dead letter then counts as near its end. */
const wholeRetention = JSON.stringify({ beforeEndSeconds: 14 * 86_400 });

/** Texts that name a person in several formats, one compressed, with a mark beside the id. */
function bodiesOf({ userId, accountId }: Person, mark: string): readonly string[] {
  return [
    JSON.stringify({ account_holder: userId.toUpperCase(), name: mark }),
    JSON.stringify({ accounts: [{ belongs_to: accountId, notes: [{ text: mark }] }] }),
    JSON.stringify({ account: { owner: userId }, body: JSON.stringify({ name: mark }) }),
    `account_owner=${encodeURIComponent(userId)}&name=${mark}`,
    JSON.stringify({ data: gzipSync(JSON.stringify({ owner: accountId, name: mark })).toString("base64") }),
  ];
}

/**
 * Puts personal data into each place of the stack that can hold it.
 * @returns the queue of a removed subscriber
 */
async function plant({ stack, sandbox, access }: System, person: Person, mark: string): Promise<string> {
  const { userId: user_id, accountId: account_id } = person;
  using clients = clientsOf(access);
  const bodies = bodiesOf(person, mark);
  const event = { event: "update_account", account_id, user_id, connected: true };
  sandbox.fireEvent("accounts", { ...event, holder: { name: mark } });
  sandbox.fireEvent("accounts", { ...event, holder: { names: [mark] }, padding });
  sandbox.fireEvent("accounts", Buffer.from(`{"user":"${user_id}","name":"${mark}",${padding}`));
  const queues = deadLetterQueuesOf(stack).filter(
    ({ source }) => source !== outputOf(stack, "EraseQueueUrl"),
  );
  const leaveDeadLetters = async () => {
    for (const { url } of queues)
      for (const MessageBody of bodies)
        await clients.sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody, ...fifoOrder(url) }));
  };
  await leaveDeadLetters();
  await waitUntilIdle({ sandbox, stack });
  const archiver = stack.functions.find(({ name }) => name === outputOf(stack, "ArchiveFunctionName"));
  await archiver?.invoke(wholeRetention);
  await leaveDeadLetters();
  const put = (output: string, Key: string, Body: string) =>
    clients.s3.send(new PutObjectCommand({ Bucket: outputOf(stack, output), Key, Body }));
  await put("OverflowBucketName", "bodies/users/left", Buffer.from(bodies.join("\n")).toString("base64"));
  const Records = bodies.map((S) => ({ dynamodb: { NewImage: { body: { S } } } }));
  await put("FailuresBucketName", "left", JSON.stringify({ payload: JSON.stringify({ Records }) }));
  const [stackName = ""] = outputOf(stack, "TableName").split("-EventsTable");
  const { QueueUrl = "" } = await clients.sqs.send(
    new CreateQueueCommand({
      QueueName: `${stackName}-SubscriberRemovedQueue`,
      tags: { "income-events:subscriber-of": stackName },
    }),
  );
  for (const MessageBody of [...bodies, "of somebody else"])
    await clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  return QueueUrl;
}

/** The law of erasure for a running stack. */
export function describeNothingLeft(
  use: () => {
    readonly operated: OperatedStage;
    readonly person: Person;
    /** Accounts of others whose data must stay. */
    readonly others: readonly string[];
  },
): void {
  it("leaves no byte of a person in a bucket, table or log, nor in a queue, also one that only its tag names", async () => {
    const { operated, person, others } = use();
    const { system } = operated;
    const { stack, sandbox, access } = system;
    const { userId, accountId } = person;
    const mark = `Marker-${randomUUID()}`;
    const documents = [accountId, ...others].flatMap((id) =>
      ["income", "profile"].map((endpoint) => [id, sandbox.data(id, endpoint)] as const),
    );
    const marks = [mark, ...marksOf(documents, new Set([accountId]))];
    expect(marks.length).toBeGreaterThan(1);
    const removed = await plant(system, person, mark);
    const sought = { ids: [userId, accountId, ...marks], marks };
    const stores = await storesIn(stack, access);
    const found = (await findRemains(access, { ...stores, messages: {} }, sought)).join("\n");
    for (const place of [
      /the table/,
      /\bbodies\/accounts/,
      /\bbodies\/users/,
      /\bdata\//,
      /dead-letters\//,
      /: left/,
    ])
      expect(found).toMatch(place);

    const result = await operated.run(["erase", "user", userId, "--yes", "--json"]);

    expect(result.json()).toMatchObject({
      incomplete: [],
      refused: [],
      removed: { "dead letters of removed queues": 5, "undelivered changes": 5 },
    });
    await waitUntilIdle(system);
    expect(await readBodies(access, removed)).toEqual(["of somebody else"]);
    expect(await findRemains(access, await everywhereIn(stack, access), sought)).toEqual([]);
    // Subscribers keep ids, and learn by id who was erased; they were never sent the person's data.
    for (const { queueUrl } of subscribersOf(stack))
      for (const body of await readBodies(access, queueUrl))
        for (const each of marks) expect(body).not.toContain(each);
  });
}
