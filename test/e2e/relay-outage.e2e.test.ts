import { setTimeout as wait } from "node:timers/promises";
import { DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectationOf, type Found, findLosses } from "../../proof/scenario/compare.ts";
import { readTable } from "../../proof/scenario/snapshot.ts";
import { recordTraffic } from "../../proof/scenario/traffic.ts";
import { eventually, waitUntilIdle } from "../support/eventually.ts";
import { type OperatedStage, startOperatedStage } from "../support/operated-stage.ts";
import { duplicatesIn, readMessages } from "../support/queues/subscriber-messages.ts";
import { enableRelay } from "../support/relay-source.ts";

/** Shortened from the stream's 24 hours; the outage is longer. */
const retentionSeconds = 20;

describe("the relay, switched off for a while", () => {
  const traffic = recordTraffic();
  const received: Awaited<ReturnType<typeof readMessages>>[number][] = [];
  let operated: OperatedStage;
  beforeAll(async () => {
    operated = await startOperatedStage(
      "relay-outage",
      { functions: {}, relay: { retryAttempts: 1 } },
      { delivery: { firstRetryMs: 200 } },
      { streamRetentionSeconds: retentionSeconds, onAnswered: traffic.observe },
    );
  });
  afterAll(() => operated?.[Symbol.asyncDispose]());

  const output = (name: string) => outputOf(operated.system.stack, name);
  const idle = () => waitUntilIdle(operated.system);
  const table = () => readTable(operated.system.access, output("TableName"));
  const isStored = () =>
    eventually(async () => {
      const { events } = await table();
      expect([...traffic.accepted()].filter((id) => !events.has(id))).toEqual([]);
    });

  /** Missing or wrong records, compared with the provider and the answers to it. */
  async function losses(): Promise<readonly string[]> {
    const { sandbox, stack, access } = operated.system;
    const messages: [string, Map<string, string>][] = [];
    for (const { name, queueUrl } of subscribersOf(stack)) {
      const copies = await readMessages(access, queueUrl);
      if (name === "everything") received.push(...copies);
      const ofAll = name === "everything" ? received : copies;
      messages.push([name, new Map(ofAll.map(({ id, type }) => [id, type]))]);
    }
    const everything: Found = { table: await table(), messages: new Map(messages), deadLetters: [] };
    const subscribers = subscribersOf(stack).filter(({ name }) => name === "everything");
    return findLosses(expectationOf(sandbox, { accepted: traffic.accepted() }), everything, subscribers);
  }

  it("for longer than the stream keeps its records, is repaired from the table without any difference", async () => {
    const { sandbox, stack, access } = operated.system;
    const { accounts } = await sandbox.createUsers(3);
    const [returning = "", deleted = "", updated = ""] = accounts;
    await idle();
    expect(await losses()).toEqual([]);

    const since = new Date().toISOString();
    await enableRelay(stack, false);
    sandbox.disconnectAccount(returning);
    sandbox.deleteAccount(deleted);
    sandbox.fetchData(updated, ["income"]);
    const { users: newUsers, accounts: newAccounts } = await sandbox.createUsers(1);
    await sandbox.waitUntilIdle();
    await isStored();
    await wait((retentionSeconds + 2) * 1000);
    // Its bytes are a repeat, so they count another receipt of a known event.
    sandbox.reconnectAccount(returning);
    await sandbox.waitUntilIdle();
    await isStored();
    expect((await operated.run(["doctor"])).stdout).toContain(
      "The event source of the table's stream is disabled.",
    );
    await enableRelay(stack, true);
    await idle();

    // They expired from the stream without being discarded: only the table has them.
    const { failures } = stack.problems();
    expect(failures).toEqual([expect.stringMatching(/the stream dropped \d+ records before their turn/)]);
    const given = await operated.run(["repair", "--failures", "--dry-run", "--json"]);
    expect(given.json()).toMatchObject({ failures: { batches: 0 } });
    const without = await table();
    expect(without.users).not.toContain(newUsers[0]);
    expect(without.accounts.get(deleted)).toMatchObject({ deleted: false });
    expect(await losses()).not.toEqual([]);

    expect(await operated.run(["repair", "--since", since, "--json"])).toMatchObject({ code: 0 });
    await idle();

    expect(await losses()).toEqual([]);
    const repaired = await table();
    expect(repaired.accounts.get(deleted)).toMatchObject({ deleted: true, unconfirmed: false });
    expect(repaired.accounts.get(returning)).toMatchObject({ connected: true, unconfirmed: false });
    expect(duplicatesIn(received)).toEqual([]);
    const announced = received
      .filter(({ subject }) => subject === `account/${returning}`)
      .map(({ type }) => type);
    expect(announced).toContain("account.disconnected");
    const client = new DynamoDBClient(access);
    const Key = { pk: { S: `USER#${newUsers[0]}` }, sk: { S: `ACCOUNT#${newAccounts[0]}` } };
    const { Item: link } = await client.send(new GetItemCommand({ TableName: output("TableName"), Key }));
    client.destroy();
    expect(link).toBeDefined();
  });

  it("discards only the records of a batch that it cannot relay, and relays those around them", async () => {
    const { sandbox, stack, access } = operated.system;
    await enableRelay(stack, false);
    await sandbox.createUsers(1);
    await isStored();
    const client = new DynamoDBClient(access);
    const state = { M: { deleted: { BOOL: false }, unconfirmed: { BOOL: false } } };
    const Item = { pk: { S: "ACCOUNT#nobody" }, sk: { S: "STATE" }, state };
    await client.send(new PutItemCommand({ TableName: output("TableName"), Item }));
    client.destroy();
    await sandbox.createUsers(1);
    await isStored();
    await enableRelay(stack, true);
    await idle();

    expect(await losses()).toEqual([]);
    const again = await operated.run(["repair", "--failures", "--json"]);
    expect(again).toMatchObject({ code: 1 });
    expect(again.json()).toMatchObject({
      failures: { batches: 0 },
      left: [{ what: "batch", reason: expect.stringMatching(/^1 of 1 changes: /) }],
    });
  });
});
