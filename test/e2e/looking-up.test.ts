import { randomUUID } from "node:crypto";
import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { outputOf } from "../../local/outputs.ts";
import { settle } from "../../local/settle.ts";
import type { System } from "../../local/system.ts";
import { type OperatedStage, startOperatedStage } from "../support/operated-stage.ts";

const patience = 60_000;
const item = z.looseObject({ pk: z.string(), sk: z.string() });
const eventItem = z.looseObject({
  pk: z.string(),
  event: z.looseObject({ id: z.string(), type: z.string(), receivedAt: z.string() }),
  receipts: z.number(),
});
const listed = z.object({
  events: z.array(
    z.looseObject({ id: z.string(), type: z.string(), receivedAt: z.string(), state: z.string() }),
  ),
});

describe("looking up, on the running stack", { timeout: 120_000 }, () => {
  let operated: OperatedStage;
  let system: System;
  let user: string;
  let account: string;
  let other: string;
  beforeAll(async () => {
    operated = await startOperatedStage("looking-up", {}, { delivery: { firstRetryMs: 200 } });
    ({ system } = operated);
    const { users, accounts } = await system.sandbox.createUsers(2);
    [user = "", account = "", other = ""] = [users[0], accounts[0], users[1]].map(String);
    await settle(system, patience);
    tellEndpoint(randomUUID());
    await settle(system, patience);
  }, 240_000);
  afterAll(() => operated[Symbol.asyncDispose]());

  /** An event that tells no user: it lies with the account. */
  const tellEndpoint = (requestId: string, facts: object = {}) =>
    system.sandbox.fireEvent("endpoints", {
      event: "update_endpoint",
      request_id: requestId,
      account_id: account,
      endpoint: "income",
      data_available: true,
      ...facts,
    });
  /** What lies in the table, read with the SDK. */
  const items = async () => {
    const client = new DynamoDBClient(system.access);
    const found: Record<string, unknown>[] = [];
    const scan = { TableName: outputOf(system.stack, "TableName"), ConsistentRead: true };
    for await (const { Items = [] } of paginateScan({ client }, scan))
      found.push(...Items.map((each) => unmarshall(each)));
    client.destroy();
    return found.map((each) => item.parse(each));
  };
  const storedEvents = async () =>
    (await items()).filter(({ sk }) => sk.startsWith("EVENT#")).map((each) => eventItem.parse(each));
  const idsOf = (events: readonly { event: { id: string } }[]) =>
    events.map(({ event }) => event.id).toSorted();
  const list = async (...flags: string[]) => {
    const result = await operated.run(["events", "list", "--json", ...flags]);
    expect(result).toMatchObject({ code: 0 });
    const { events } = listed.parse(result.json());
    return { events, ids: events.map(({ id }) => id).toSorted(), stderr: result.stderr };
  };

  describe("events list", () => {
    it("lists a user's events and its account's, by queries of their partitions", async () => {
      const mine = (await storedEvents()).filter(({ pk }) =>
        [`USER#${user}`, `ACCOUNT#${account}`].includes(pk),
      );
      expect(new Set(mine.map(({ pk }) => pk)).size).toBe(2);
      const { ids, stderr } = await list("--user", user);
      expect(ids).toEqual(idsOf(mine));
      expect(stderr).toBe("");
    });

    it("lists an account's events, also those that lie with its user", async () => {
      const mine = (await storedEvents()).filter(({ event }) => event.accountId === account);
      expect((await list("--account", account)).ids).toEqual(idsOf(mine));
    });

    it("lists by type and kind from a scan of the table, having said what it costs", async () => {
      const all = await storedEvents();
      const { ids, stderr } = await list("--type", "account.*", "--kind", "accounts");
      expect(ids).toEqual(idsOf(all.filter(({ event }) => event.type.startsWith("account."))));
      expect(stderr).toMatch(/reads the whole table: about \d+ items.*read units.*US\$/);
    });

    it("lists by time and the newest first, up to a limit", async () => {
      const times = (await storedEvents()).map(({ event }) => event.receivedAt).toSorted();
      const middle = times[Math.floor(times.length / 2)] ?? "";
      const { events } = await list("--since", middle);
      expect(events.map(({ receivedAt }) => receivedAt)).toEqual(
        times.filter((time) => time >= middle).toReversed(),
      );
      const before = await list("--until", middle);
      expect(before.events).toHaveLength(times.filter((time) => time < middle).length);
      const few = await list("--limit", "2");
      expect(few.events.map(({ receivedAt }) => receivedAt)).toEqual(times.slice(-2).toReversed());
    });

    it("lists by state: what is still to be fetched, until it is", async () => {
      expect((await list("--state", "fetching")).ids).toEqual([]);
      system.sandbox.fault({ path: `/${account}/employment`, status: 503, share: 1 });
      const requestId = randomUUID();
      tellEndpoint(requestId, { endpoint: "employment" });
      const fetching = async () => (await list("--state", "fetching")).ids;
      await expect.poll(fetching, { timeout: patience }).toHaveLength(1);
      const [told] = (await storedEvents()).filter(({ event }) => event.eventId === requestId);
      expect(await fetching()).toEqual([told?.event.id]);

      system.sandbox.clearFaults();
      await settle(system, patience);
      expect(await fetching()).toEqual([]);
      expect((await list("--account", account, "--state", "done")).ids).toContain(told?.event.id);
    });

    it("prints a table for people, and says where there is nothing", async () => {
      const { stdout } = await operated.run(["events", "list", "--user", other]);
      expect(stdout).toMatch(/^RECEIVED +TYPE +SUBJECT +TIMES +STATE +OUTCOME +ID\n/);
      expect(stdout).toContain(`user/${other}`);
      expect(await operated.run(["events", "list", "--user", randomUUID()])).toMatchObject({
        code: 0,
        stdout: "There is no such event.\n",
      });
    });

    it.each([
      [["--since", "yesterday"], "--since"],
      [["--until", "2026-02-30"], "--until"],
      [["--kind", "account"], "--kind"],
      [["--type", "account.*x"], "--type"],
      [["--state", "gone"], "--state"],
      [["--limit", "0"], "--limit"],
      [["--user", "u", "--account", "a"], "--account"],
    ])("refuses %s, naming the flag, before anything is read", async (flags, name) => {
      const result = await operated.run(["events", "list", ...flags]);
      expect(result).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(name) });
      expect(result.stderr).not.toContain("reads the whole table");
    });
  });
});
