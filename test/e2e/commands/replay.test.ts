import { randomUUID } from "node:crypto";
import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { readSubscriber, readTable } from "@income-events/local-stack/scenario/snapshot.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { writeChange } from "../../../adapters/streams/change-stream.ts";
import { createReader, inMemory } from "../../../packages/subscriber/index.ts";
import { eventOf } from "../../domain/samples.ts";
import { startCommand } from "../../support/command-line.ts";
import { type OperatedStage, startOperatedStage } from "../../support/operated-stage.ts";
import { waitUntilIdle } from "../../support/wait-until-idle.ts";

const stage = "replay";
const message = z.looseObject({
  id: z.string(),
  type: z.string(),
  subject: z.string(),
  sequence: z.string(),
  replayid: z.string().optional(),
  data: z.looseObject({ connected: z.boolean().optional() }).optional(),
});
const replayed = z.looseObject({
  replayId: z.string().optional(),
  messages: z.number(),
  sent: z.record(z.string(), z.number()),
  pending: z.number(),
});
const result = z.looseObject({
  repaired: z.object({ events: z.number(), states: z.number(), dataSets: z.number() }).optional(),
  failures: z.object({ batches: z.number(), changes: z.number() }).optional(),
  left: z.array(z.object({ what: z.string(), name: z.string(), reason: z.string() })),
});

describe("repair and replay, on the running stack", () => {
  let operated: OperatedStage;
  let system: System;
  let s3: S3Client;
  let sqs: SQSClient;
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
    sqs = new SQSClient(system.access);
  });
  afterAll(async () => {
    for (const client of [s3, sqs]) client.destroy();
    await operated?.[Symbol.asyncDispose]();
  });

  const output = (name: string) => outputOf(system.stack, name);
  const table = () => readTable(system.access, output("TableName"));
  const idle = () => waitUntilIdle(system);
  const announced = async () => {
    const { queueUrl = "" } = subscribersOf(system.stack).find(({ name }) => name === "everything") ?? {};
    return readSubscriber(system.access, queueUrl);
  };
  const failedBatches = async () => {
    const { Contents = [] } = await s3.send(
      new ListObjectsV2Command({ Bucket: output("FailuresBucketName") }),
    );
    return Contents.map(({ Key = "" }) => Key);
  };
  const putBatch = (name: string, body: object) =>
    s3.send(
      new PutObjectCommand({
        Bucket: output("FailuresBucketName"),
        Key: `aws/lambda/0/${name}`,
        Body: JSON.stringify(body),
      }),
    );
  /** The relay gets nothing done: each call of its function's is refused, but for what Lambda makes in its name. */
  const breakRelay = (isBucketGone: boolean) =>
    system.stack.gateway.intercept(async ({ principal, action }, phase) => {
      const isOfRelay = principal === output("RelayFunctionName") && phase === "before";
      const isBroken =
        /^(dynamodb:(Get|Put)Item|sqs:.*)$/.test(action) || (isBucketGone && action === "s3:PutObject");
      return isOfRelay && isBroken
        ? { status: 503, errorType: "ServiceUnavailable", message: "injected by the test" }
        : undefined;
    });
  const repair = async (...flags: string[]) => {
    const run = await operated.run(["repair", "--json", ...flags]);
    return { ...run, result: run.stdout === "" ? undefined : result.parse(run.json()) };
  };
  const announceEndpoint = () =>
    system.sandbox.fireEvent("endpoints", {
      event: "update_endpoint",
      request_id: randomUUID(),
      account_id: account,
      endpoint: "income",
      data_available: true,
    });

  it("derives from the table what an outage of the relay has lost: states, data, messages", async () => {
    const before = new Date().toISOString();
    const endFault = breakRelay(true);
    const { users, accounts } = await system.sandbox.createUsers(1);
    [user = "", account = ""] = [users[0], accounts[0]].map(String);
    await idle();
    const lost = await table();
    expect(lost.events.size).toBeGreaterThanOrEqual(3);
    expect([lost.users.size, lost.accounts.size, lost.fetches]).toEqual([0, 0, 0]);
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

    // Once more: nothing changes, and messages come with the ids that they had.
    const states = repaired.accounts;
    expect(await repair("--user", user)).toMatchObject({ code: 0 });
    await idle();
    const again = await announced();
    expect([...again.keys()].filter((id) => !messages.has(id))).toEqual([]);
    expect(again.size).toBeGreaterThan(0);
    expect((await table()).accounts).toEqual(states);
  });

  it("relays what was given up from the failures bucket, each change as it was in the stream, and removes it", async () => {
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

  it("leaves a batch that can't be relayed, says why, and relays the others", async () => {
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
    expect(stderr).toContain("Not all could be repaired");
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

  const queueOf = (name: string) =>
    subscribersOf(system.stack).find((each) => each.name === name)?.queueUrl ?? "";
  /** Takes all messages out of a subscriber's queue. */
  const drain = async (name: string) => {
    const found: z.output<typeof message>[] = [];
    for (;;) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl: queueOf(name), MaxNumberOfMessages: 10 }),
      );
      if (Messages.length === 0) return found;
      for (const { Body = "", ReceiptHandle } of Messages) {
        found.push(message.parse(JSON.parse(Body)));
        await sqs.send(new DeleteMessageCommand({ QueueUrl: queueOf(name), ReceiptHandle }));
      }
    }
  };
  const replay = async (...flags: string[]) => {
    const run = await operated.run(["replay", "--json", ...flags]);
    return { ...run, result: run.stdout === "" ? undefined : replayed.parse(run.json()) };
  };
  const idsOf = (messages: readonly { id: string }[]) => messages.map(({ id }) => id).toSorted();

  describe("replay", () => {
    let original: z.output<typeof message>[];
    let other: string;
    beforeAll(async () => {
      await drain("everything");
      const { users, accounts } = await system.sandbox.createUsers(1);
      [user = "", account = ""] = [users[0], accounts[0]].map(String);
      other = String((await system.sandbox.createUsers(1)).users[0]);
      await idle();
      original = await drain("everything");
      await drain("accounts");
    });
    const ofUser = () => original.filter(({ subject }) => [user, account].some((id) => subject.includes(id)));

    it("sends a user's messages to one subscriber again, with their ids and the replay's own", async () => {
      const dry = await replay("--subscriber", "everything", "--user", user, "--dry-run");
      expect(dry).toMatchObject({ code: 0, stderr: "" });
      expect(await drain("everything")).toEqual([]);

      const { code, result: done } = await replay("--subscriber", "everything", "--user", user);
      expect(code).toBe(0);
      const messages = await drain("everything");
      const latest = ofUser().filter(
        ({ id, type }) => !type.endsWith(".confirmed") || idsOf(messages).includes(id),
      );
      expect(idsOf(messages)).toEqual(idsOf(latest));
      expect(done).toMatchObject({
        messages: messages.length,
        sent: { everything: messages.length },
        pending: 0,
      });
      expect(dry.result).toMatchObject({ messages: messages.length, sent: { everything: messages.length } });
      expect(new Set(messages.map(({ replayid }) => replayid))).toEqual(new Set([done?.replayId]));
      const newest = new Map<string, string>();
      for (const { subject, sequence } of original) {
        if (sequence > (newest.get(subject) ?? "")) newest.set(subject, sequence);
      }
      // Of a document whose latest fetch brought nothing new the `sequence` is higher than that of any message.
      for (const { subject, sequence } of messages)
        expect(sequence >= (newest.get(subject) ?? "")).toBe(true);
      expect(await drain("accounts")).toEqual([]);
    });

    it("selects by account, type and time", async () => {
      await replay("--subscriber", "everything", "--account", account, "--type", "data.updated");
      expect(idsOf(await drain("everything"))).toEqual(
        idsOf(ofUser().filter(({ type }) => type === "data.updated")),
      );
      const { stderr } = await replay(
        "--subscriber",
        "everything",
        "--type",
        "user.*",
        "--until",
        "2020-01-01",
      );
      expect(stderr).toMatch(/reads the whole table: about \d+ items/);
      expect(await drain("everything")).toEqual([]);
      await replay("--subscriber", "everything", "--type", "user.*", "--since", "1h");
      const subjects = (await drain("everything")).map(({ subject }) => subject);
      expect(subjects).toEqual(expect.arrayContaining([`user/${user}`, `user/${other}`]));
    });

    it("keeps to a subscriber's filter, unless it is to get all types", async () => {
      await replay("--subscriber", "accounts", "--user", user);
      const filtered = await drain("accounts");
      expect(filtered.length).toBeGreaterThan(0);
      expect(filtered.every(({ type }) => type.startsWith("account."))).toBe(true);
      await replay("--subscriber", "accounts", "--user", user, "--all-types");
      expect((await drain("accounts")).map(({ type }) => type)).toContain("data.updated");
    });

    it("asks before all subscribers get messages again", async () => {
      const flags = ["--all-subscribers", "--user", user];
      expect(await replay(...flags)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/2 subscribers .* everything, accounts/),
      });
      expect([...(await drain("everything")), ...(await drain("accounts"))]).toEqual([]);
      const { result: done } = await replay(...flags, "--yes");
      const counts = {
        everything: (await drain("everything")).length,
        accounts: (await drain("accounts")).length,
      };
      expect(done?.sent).toEqual(counts);
      expect(counts.everything).toBeGreaterThan(counts.accounts);
    });

    it("killed, goes on from where it stood, by its id, and is gone when it is done", async () => {
      await replay("--subscriber", "everything");
      const whole = await drain("everything");
      expect(whole.length).toBeGreaterThan(20);
      const flags = ["--subscriber", "everything", "--rate", "2", "--stage", stage];
      const running = startCommand(["replay", ...flags]);
      const first: typeof whole = [];
      await expect.poll(async () => first.push(...(await drain("everything")))).toBeGreaterThan(0);
      running.kill();
      const [, id = ""] = /--resume (\S+)/.exec((await running.ended).stderr) ?? [];
      first.push(...(await drain("everything")));
      expect(first.length).toBeLessThan(whole.length);

      expect(await replay("--resume", id, "--user", user)).toMatchObject({ code: 2 });
      expect(await replay("--resume", id, "--rate", "1000")).toMatchObject({
        code: 0,
        result: { replayId: id },
      });
      const rest = await drain("everything");
      expect(new Set([...first, ...rest].map(({ replayid }) => replayid))).toEqual(new Set([id]));
      expect([...new Set(idsOf([...first, ...rest]))]).toEqual(idsOf(whole));
      expect(rest.length).toBeLessThan(whole.length);
      expect(await replay("--resume", id)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("There is no interrupted replay"),
      });
    });

    it("ends where a queue takes no messages, and goes on from there when it does", async () => {
      const endFault = system.stack.gateway.intercept(async ({ action, resources }, phase) =>
        phase === "before" &&
        action.startsWith("sqs:SendMessage") &&
        resources.some((arn) => arn.includes("Everything"))
          ? { status: 503, errorType: "ServiceUnavailable", message: "injected by the test" }
          : undefined,
      );
      const failed = await replay("--subscriber", "everything", "--user", user);
      endFault();
      expect(failed).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("The queue of everything takes no"),
      });
      const [, id = ""] = /--resume (\S+)/.exec(failed.stderr) ?? [];
      expect(await replay("--resume", id)).toMatchObject({ code: 0 });
      expect((await drain("everything")).length).toBeGreaterThan(0);
    });

    it("sends nothing of whoever was erased", async () => {
      expect(await operated.run(["erase", "user", other, "--yes"])).toMatchObject({ code: 0 });
      await idle();
      await drain("everything");
      await replay("--subscriber", "everything", "--type", "user.*");
      const subjects = (await drain("everything")).map(({ subject }) => subject);
      expect(subjects).toContain(`user/${user}`);
      expect(subjects).not.toContain(`user/${other}`);
    });

    it("repairs nothing of whoever was erased", async () => {
      const announced = { userId: other, kind: "users", receivedAt: new Date().toISOString() } as const;
      const change = { of: "event", event: eventOf("user.updated", announced), receipts: 1 } as const;
      await putBatch("erased", { payload: JSON.stringify({ Records: [writeChange(change, "1")] }) });
      expect(await repair("--failures")).toMatchObject({ result: { failures: { changes: 1 } } });
      await idle();
      expect((await table()).users).not.toContain(other);
      expect((await drain("everything")).map(({ type }) => type)).not.toContain("user.updated");
    });

    it("that comes after live messages leaves a reader with their content, though it was read before them", async () => {
      const isHeld = Promise.withResolvers<void>();
      const isAnnounced = Promise.withResolvers<void>();
      const isAboutAccount = (body: Buffer) => body.includes(`account/${account}\\"`);
      const end = system.stack.gateway.intercept(async ({ principal, action, body }, phase) => {
        const isReplay = principal === "operator" && action === "sqs:SendMessageBatch" && phase === "before";
        if (!isReplay || !isAboutAccount(body)) return undefined;
        isHeld.resolve();
        await isAnnounced.promise;
        return undefined;
      });
      const replaying = replay("--subscriber", "everything", "--account", account);
      await isHeld.promise;
      system.sandbox.disconnectAccount(account);
      await idle();
      const live = await drain("everything");
      isAnnounced.resolve();
      expect(await replaying).toMatchObject({ code: 0 });
      end();
      const late = await drain("everything");

      const connections = (messages: typeof live) =>
        messages.flatMap(({ subject, data }) => (subject === `account/${account}` ? [data?.connected] : []));
      expect(connections(live)).toContain(false);
      expect(connections(late)).toContain(true);
      const known = new Map<string, unknown>();
      const read = createReader({
        memory: inMemory(),
        handle: ({ subject, data }) => void known.set(subject, data),
      });
      for (const each of [...live, ...late])
        expect(await read(JSON.stringify(each))).toMatchObject({ settled: true });
      expect(known.get(`account/${account}`)).toMatchObject({ connected: false, unconfirmed: false });
    });

    it("refuses what it can't do, before anything is done", async () => {
      expect(await replay("--subscriber", "nobody")).toMatchObject({
        code: 2,
        stdout: "",
        stderr: "There is no subscriber nobody; there is: everything, accounts.\n",
      });
    });
  });

  it("refuses a repair of nothing in particular, and says what there is", async () => {
    expect(await operated.run(["repair"])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("Say what to repair: --failures"),
    });
  });
});
