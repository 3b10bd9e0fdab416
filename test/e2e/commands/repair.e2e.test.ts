import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { marshall } from "@aws-sdk/util-dynamodb";
import { subscribersOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { itemVersion, supersededKey } from "../../../adapters/dynamodb/keys.ts";
import { readObjects, readSubscriber, readTable } from "../../../proof/scenario/snapshot.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import { type OperatedStage, startOperatedStage } from "../../support/operated-stage.ts";
import { endpointEvent } from "../../support/webhooks.ts";
import { describeReplay } from "./replay.ts";

const stage = "repair";
const result = z.looseObject({
  repaired: z.object({ events: z.number(), states: z.number(), documents: z.number() }).optional(),
  failures: z.object({ batches: z.number(), changes: z.number() }).optional(),
  left: z.array(z.object({ what: z.string(), name: z.string(), reason: z.string() })),
});

describe("repair, on the running stack", () => {
  let operated: OperatedStage;
  let system: System;
  let s3: S3Client;
  let user: string;
  let account: string;
  beforeAll(async () => {
    operated = await startOperatedStage(
      stage,
      { relay: { retryAttempts: 1 } },
      { delivery: { firstRetryMs: 200 } },
    );
    ({ system } = operated);
    s3 = new S3Client({ ...system.access, forcePathStyle: true });
  });
  afterAll(async () => {
    s3.destroy();
    await operated?.[Symbol.asyncDispose]();
  });

  const output = (name: string) => operated.output(name);
  const table = () => readTable(system.access, output("TableName"));
  const idle = () => waitUntilIdle(system);
  const announced = async () => {
    const { queueUrl = "" } = subscribersOf(system.stack).find(({ name }) => name === "everything") ?? {};
    return readSubscriber(system.access, queueUrl);
  };
  const failedBatches = async () => [
    ...(await readObjects(system.access, output("FailuresBucketName"))).keys(),
  ];
  const putBatch = (name: string, body: object) =>
    s3.send(
      new PutObjectCommand({
        Bucket: output("FailuresBucketName"),
        Key: `aws/lambda/0/${name}`,
        Body: JSON.stringify(body),
      }),
    );
  /** Stops the relay: refuses each call of its own process, but not Lambda's calls in its role. */
  const breakRelay = (isBucketGone: boolean) =>
    system.stack.gateway.intercept(async ({ principal, action }, phase) => {
      const isOfRelay = principal === output("RelayFunctionName") && phase === "before";
      const isBroken =
        /^(dynamodb:(GetItem|BatchExecuteStatement)|sqs:.*)$/.test(action) ||
        (isBucketGone && action === "s3:PutObject");
      return isOfRelay && isBroken
        ? { status: 503, errorType: "ServiceUnavailable", message: "injected by the test" }
        : undefined;
    });
  const repair = async (...flags: string[]) => {
    const run = await operated.run(["repair", "--json", ...flags]);
    return { ...run, result: run.stdout === "" ? undefined : result.parse(run.json()) };
  };
  const announceEndpoint = () => system.sandbox.fireEvent("endpoints", endpointEvent(account));

  it("restores from the table what an outage of the relay has lost: states, data, messages", async () => {
    const before = new Date().toISOString();
    const endFault = breakRelay(true);
    const { users, accounts } = await system.sandbox.createUsers(1);
    [user = "", account = ""] = [users[0], accounts[0]].map(String);
    await idle();
    const lost = await table();
    expect(lost.events.size).toBeGreaterThanOrEqual(3);
    expect([lost.users.size, lost.accounts.size, lost.data.size]).toEqual([0, 0, 0]);
    expect(await failedBatches()).toEqual([]);
    endFault();
    await idle();
    expect((await announced()).size).toBe(0);

    const dry = await repair("--since", before, "--dry-run");
    expect(dry).toMatchObject({ code: 0, result: { repaired: { events: lost.events.size, states: 0 } } });
    expect(dry.stderr).toMatch(/reads the whole table: about \d+ items/);
    await idle();
    expect((await table()).accounts.size).toBe(0);

    const { code, result: done } = await repair("--since", before);
    expect({ code, left: done?.left }).toEqual({ code: 0, left: [] });
    await idle();
    const repaired = await table();
    expect(repaired.users).toEqual(new Set([user]));
    expect(repaired.accounts.get(account)).toEqual({ connected: true, deleted: false, unconfirmed: false });
    for (const endpoint of ["profile", "income", "employment"]) {
      expect(repaired.data).toContain(`${account}/${endpoint}`);
    }
    const messages = await announced();
    expect([...repaired.events.keys()].filter((id) => !messages.has(id))).toEqual([]);
    expect([...messages.values()]).toContain("data.updated");

    // A second repair changes nothing, and its messages have the same ids.
    const states = repaired.accounts;
    expect(await repair("--user", user)).toMatchObject({ code: 0 });
    await idle();
    const again = await announced();
    expect([...again.keys()].filter((id) => !messages.has(id))).toEqual([]);
    expect(again.size).toBeGreaterThan(0);
    expect((await table()).accounts).toEqual(states);
  });

  it("relays undelivered changes from the failures bucket, each as in the stream, and removes them", async () => {
    const endFault = breakRelay(false);
    announceEndpoint();
    await idle();
    endFault();
    expect(await failedBatches()).toHaveLength(1);

    expect(await repair("--failures", "--dry-run")).toMatchObject({
      code: 0,
      result: { failures: { batches: 1, changes: 1 } },
    });
    expect(await failedBatches()).toHaveLength(1);
    expect(await repair("--failures")).toMatchObject({
      code: 0,
      result: { failures: { batches: 1, changes: 1 }, left: [] },
    });
    await idle();
    expect(await failedBatches()).toEqual([]);
    expect([...(await announced()).values()]).toContain("endpoint.updated");
  });

  it("leaves a batch that cannot be relayed, reports why, and relays the others", async () => {
    const endFault = breakRelay(false);
    announceEndpoint();
    await idle();
    endFault();
    const [batch = ""] = await failedBatches();
    const record = { dynamodb: { SequenceNumber: "1", NewImage: { pk: { S: "x" }, sk: { S: "STATE" } } } };
    await putBatch("poison", { payload: JSON.stringify({ Records: [record] }) });
    await putBatch("metadata", { DDBStreamBatchInfo: { batchSize: 1 } });

    const { code, stderr, result: done } = await repair("--failures");
    expect(code).toBe(1);
    expect(stderr).toContain("Some changes could not be repaired");
    expect(done?.failures).toEqual({ batches: 1, changes: 1 });
    expect(done?.left).toEqual([
      { what: "batch", name: "aws/lambda/0/metadata", reason: "payload: expected a text" },
      { what: "batch", name: "aws/lambda/0/poison", reason: expect.stringContaining("1 of 1 changes") },
    ]);
    const left = await failedBatches();
    expect(left).not.toContain(batch);
    for (const Key of left) {
      await s3.send(new DeleteObjectCommand({ Bucket: output("FailuresBucketName"), Key }));
    }
  });

  it("removes the superseded object whose removal was given up, as the relay's own role may", async () => {
    const subject = { kind: "account", id: account } as const;
    const [Bucket, name] = [output("OverflowBucketName"), { endpoint: "income" }];
    const object = { Bucket, Key: `data/account/${account}/income/1.superseded.json.gz` };
    await s3.send(new PutObjectCommand({ ...object, Body: "superseded" }));
    const document = { subject, ...name, announced: 1, object: object.Key };
    const item = { ...supersededKey(subject, name, 1), schemaVersion: itemVersion, expiresAt: 1, document };
    const dynamodb = { SequenceNumber: "1", ApproximateCreationDateTime: 2, OldImage: marshall(item) };
    const record = { eventName: "REMOVE", dynamodb };
    await putBatch("expired", { payload: JSON.stringify({ Records: [record] }) });
    expect(await repair("--failures")).toMatchObject({ code: 0, result: { failures: { changes: 1 } } });
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: object.Key }));
    expect(Contents).toEqual([]);
  });

  describeReplay(() => operated);
});
