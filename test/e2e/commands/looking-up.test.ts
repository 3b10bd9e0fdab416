import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { identify } from "../../../domain/event/identify.ts";
import { type OperatedStage, startOperatedStage } from "../../support/operated-stage.ts";
import { runProgram } from "../../support/program.ts";
import { settle } from "../../support/settle.ts";

const item = z.looseObject({ pk: z.string(), sk: z.string() });
const eventItem = z.looseObject({
  pk: z.string(),
  event: z.looseObject({ id: z.string(), type: z.string(), receivedAt: z.string() }),
  receipts: z.number(),
  body: z.unknown(),
});
const listed = z.object({
  events: z.array(
    z.looseObject({ id: z.string(), type: z.string(), receivedAt: z.string(), state: z.string() }),
  ),
});
const shown = z.object({
  event: z.looseObject({ id: z.string() }),
  way: z.array(z.object({ step: z.string(), done: z.boolean().optional(), detail: z.string() })),
  body: z.unknown(),
});
const record = z.object({
  subject: z.string(),
  state: z.unknown(),
  accounts: z.array(z.unknown()),
  dataSets: z.array(z.looseObject({ endpoint: z.string(), bytes: z.number().optional() })),
  data: z.array(z.looseObject({ endpoint: z.string(), data: z.unknown() })).optional(),
});

const subscribers = [
  { name: "everything" },
  { name: "accounts", types: ["account.*"] },
  { name: "local", types: ["user.*"] },
];

describe("looking up, on the running stack", () => {
  let operated: OperatedStage;
  let system: System;
  let user: string;
  let account: string;
  let other: string;
  let company: string;
  beforeAll(async () => {
    operated = await startOperatedStage(
      "looking-up",
      { subscribers, functions: {} },
      { delivery: { firstRetryMs: 200 } },
    );
    ({ system } = operated);
    const { users, accounts, companyAccounts } = await system.sandbox.createUsers(2, { companyAccounts: 1 });
    [user = "", other = ""] = users;
    [account = ""] = accounts;
    [company = ""] = companyAccounts;
    await settle(system);
    tellEndpoint();
    await settle(system);
  });
  afterAll(() => operated?.[Symbol.asyncDispose]());

  /** An event that tells no user: it lies with the account. @returns its id */
  const tellEndpoint = (facts: object = {}, isId = (_: string) => true) => {
    for (;;) {
      const ids = { event: "update_endpoint", request_id: randomUUID(), account_id: account };
      const body = JSON.stringify({ ...ids, endpoint: "income", data_available: true, ...facts });
      const id = identify("endpoints", Buffer.from(body));
      if (!isId(id)) continue;
      system.sandbox.fireEvent("endpoints", body);
      return id;
    }
  };
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
      const id = tellEndpoint({ endpoint: "employment" });
      const fetching = async () => (await list("--state", "fetching")).ids;
      await expect.poll(fetching).toHaveLength(1);
      expect(await fetching()).toEqual([id]);

      system.sandbox.clearFaults();
      await settle(system);
      expect(await fetching()).toEqual([]);
      expect((await list("--account", account, "--state", "done")).ids).toContain(id);
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

  describe("events show", () => {
    const show = async (id: string, ...flags: string[]) => {
      const result = await operated.run(["events", "show", id, "--json", ...flags]);
      expect(result).toMatchObject({ code: 0 });
      return { ...shown.parse(result.json()), ...result };
    };
    const someEvent = async (type: string) => {
      const found = (await storedEvents()).findLast(({ event }) => event.type === type);
      if (found === undefined) throw new Error(`no ${type} is stored`);
      const owner = z.looseObject({ accountId: z.string() }).parse(found.event).accountId;
      return { ...found, owner };
    };

    it("shows an event by the beginning of its id, with its way through the stages", async () => {
      const { event, pk, owner } = await someEvent("endpoint.updated");
      const { way, event: found, stderr } = await show(event.id.slice(0, 12), "--account", owner);
      expect(found).toEqual(event);
      expect(stderr).toBe("");
      expect(way.map(({ step, done }) => [step, done])).toEqual([
        ["received", true],
        ["stored", true],
        ["judged", true],
        ["fetched", true],
        ["published", true],
      ]);
      const details = way.map(({ detail }) => detail);
      expect(details[0]).toContain(event.receivedAt);
      expect(details[1]).toContain(pk.replace("ACCOUNT#", "account/").replace("USER#", "user/"));
      expect(details[4]).toBe("to everything");
    });

    it("takes an id that begins as an option does, and still no option that it does not know", async () => {
      const id = tellEndpoint({ data_available: false }, (each) => each.startsWith("-"));
      await settle(system);
      expect((await show(id, "--account", account)).event.id).toBe(id);
      expect((await show(id.slice(0, 12), "--account", account)).event.id).toBe(id);
      expect(await operated.run(["events", "show", id, "--reveel", "--account", account])).toMatchObject({
        code: 2,
      });
    });

    it("finds it in the whole table where nobody is named, having said what that costs", async () => {
      const { event } = await someEvent("account.created");
      const { event: found, way, stderr } = await show(event.id);
      expect(found).toEqual(event);
      expect(stderr).toContain("This reads the whole table");
      expect(way.at(-1)).toEqual({ step: "published", done: true, detail: "to everything, accounts" });
    });

    it("tells where an event stands while nothing has followed", async () => {
      const release = system.stack.gateway.intercept(async ({ principal, action }, moment) =>
        moment === "before" && principal.includes("Relay") && action === "dynamodb:PutItem"
          ? { status: 503, errorType: "ServiceUnavailable", message: "injected by the test" }
          : undefined,
      );
      try {
        const id = tellEndpoint({ endpoint: "bonuses" });
        const told = async () => idsOf(await storedEvents());
        await expect.poll(told).toContain(id);
        expect((await list("--state", "stored")).ids).toEqual([id]);
        const { way } = await show(id, "--account", account);
        expect(way.map(({ done }) => done)).toEqual([true, true, false, false, false]);
      } finally {
        release();
      }
      await settle(system);
      expect((await list("--state", "stored")).ids).toEqual([]);
    });

    it("masks the body, but for ids, until it is to be revealed", async () => {
      const { event, body, owner } = await someEvent("account.created");
      const { text } = z.object({ text: z.string() }).parse(body);
      const ids = [event.userId, event.accountId, event.datasourceId];
      const hidden = await show(event.id, "--account", owner);
      for (const leaf of leavesOf(JSON.parse(text))) {
        if (typeof leaf !== "string" || ids.includes(leaf)) continue;
        expect(JSON.stringify(hidden.body)).not.toContain(leaf);
      }
      expect(JSON.stringify(hidden.body)).toContain(owner);
      const revealed = await show(event.id, "--account", owner, "--reveal");
      expect(revealed.body).toEqual(JSON.parse(text));
      const { stdout } = await operated.run(["events", "show", event.id, "--account", owner]);
      expect(stdout).toContain("Body, masked (--reveal shows it):");
    });

    it("tells in which dead-letter queue something of an event waits, and leaves it there", async () => {
      system.sandbox.fault({ path: `/${account}/wallet`, status: 422, share: 1 });
      const id = tellEndpoint({ endpoint: "wallet" });
      await settle(system);
      system.sandbox.clearFaults();
      for (const _ of ["once", "again"]) {
        const { way } = await show(id, "--account", account);
        expect(way.filter(({ done }) => done === false)).toEqual([
          { step: "fetched", done: false, detail: expect.stringContaining("wanted 1, done 0") },
          { step: "dead letter", done: false, detail: expect.stringMatching(/^of fetch: read task .*422/) },
        ]);
      }
    });

    it("finds an event that could not be stored among the dead letters of its kind", async () => {
      const body = JSON.stringify({ action: "surprise", data: { id: randomUUID() } });
      system.sandbox.fireEvent("users", body);
      await settle(system);
      const id = identify("users", Buffer.from(body));
      const { code, json } = await operated.run(["events", "show", id, "--json", "--user", user]);
      expect(code).toBe(0);
      expect(json()).toMatchObject({
        event: null,
        letters: [{ queue: "users", id, reason: expect.any(String) }],
      });
    });

    it("refuses an id that nothing has, that several have, or that nothing can have", async () => {
      const refused = async (id: string, ...flags: string[]) => {
        const result = await operated.run(["events", "show", id, ...flags]);
        expect(result).toMatchObject({ code: 2, stdout: "" });
        return result.stderr;
      };
      expect(await refused("x".repeat(43), "--user", user)).toContain(`No event of user/${user} is stored`);
      expect(await refused("y".repeat(43))).toContain("No event is stored");
      // Of 65 events two begin alike.
      for (let count = 0; count < 65; count += 1) tellEndpoint({ data_available: false });
      await settle(system);
      const firsts = (await storedEvents()).map(({ event }) => event.id.charAt(0));
      const twice = firsts.find((first, index) => firsts.indexOf(first) < index) ?? "";
      expect(await refused(twice)).toMatch(new RegExp(`<id> ${twice} names \\d+ events[^]*\n  ${twice}`));
      expect(await refused("no id!")).toContain('<id> "no id!" is no event\'s');
    });
  });

  describe("events tail", () => {
    it("follows events that come and what follows from them, until Ctrl-C", async () => {
      await using tail = runProgram("cli/main.ts", ["events", "tail", "--stage", "looking-up", "--json"]);
      await tail.printed("Following the stage looking-up");
      const throttle = system.stack.gateway.intercept(async ({ principal, action }, moment) =>
        moment === "before" && principal === "operator" && action === "dynamodb:GetRecords"
          ? {
              status: 400,
              errorType: "ProvisionedThroughputExceededException",
              message: "injected by the test",
            }
          : undefined,
      );
      await tail.printed("ProvisionedThroughputExceededException: it goes on by itself.");
      throttle();
      const id = tellEndpoint({ endpoint: "profile" });
      await tail.printed(`account/${account}/profile",`);
      await settle(system);
      // Whether it is news depends on what was read before.
      const read = new RegExp(`"(answered|noted)","subject":"account/${account}/profile"`);
      await expect.poll(() => tail.output()).toMatch(read);
      const lines = tail
        .output()
        .split("\n")
        .filter((line) => line.startsWith("{"));
      const happenings = lines.map((line) => JSON.parse(line));
      expect(happenings.filter((each) => each.id === id).map(({ what }) => what)).toEqual([
        "received",
        "applied",
      ]);
      tail.signal("SIGINT");
      expect(await tail.ended).toBe(0);
    });
  });

  describe("local forward", () => {
    const depthOf = async (name: string) => {
      const QueueUrl = subscribersOf(system.stack).find((one) => one.name === name)?.queueUrl;
      const client = new SQSClient(system.access);
      const { Attributes = {} } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }),
      );
      client.destroy();
      return {
        waiting: Number(Attributes.ApproximateNumberOfMessages),
        inFlight: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
      };
    };

    it("posts what waited and what comes to an address of this machine, and empties the queue, until Ctrl-C", async () => {
      const got: { id: string; type: string; subject: string }[] = [];
      const server = createServer(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        got.push(JSON.parse(Buffer.concat(chunks).toString()));
        response.writeHead(200).end();
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = z.object({ port: z.number() }).parse(server.address());
      const told = async () =>
        (await storedEvents())
          .filter(({ event }) => event.type.startsWith("user."))
          .map(({ event }) => event.id)
          .toSorted();
      const before = await told();
      expect(before.length).toBeGreaterThan(1);
      expect((await depthOf("local")).waiting).toBe(before.length);

      const to = `http://127.0.0.1:${port}/events`;
      await using command = runProgram("cli/main.ts", [
        "local",
        "forward",
        "--to",
        to,
        "--stage",
        "looking-up",
      ]);
      await expect.poll(() => got.map(({ id }) => id).toSorted()).toEqual(before);
      const { users } = await system.sandbox.createUsers(1);
      await expect.poll(() => got.map(({ subject }) => subject)).toContain(`user/${users[0]}`);
      await settle(system);
      await expect.poll(() => depthOf("local")).toEqual({ waiting: 0, inFlight: 0 });
      expect(got.map(({ id }) => id).toSorted()).toEqual(await told());
      expect(command.output()).toContain("replay --subscriber local --since");

      command.signal("SIGINT");
      expect(await command.ended).toBe(0);
      expect(command.output()).toContain(`Forwarded ${got.length} messages`);
      server.close();
    });

    it("takes nothing from a subscriber with readers of its own, unless that is confirmed", async () => {
      const before = await depthOf("everything");
      const args = ["local", "forward", "--to", "http://127.0.0.1:1/", "--subscriber", "everything"];
      expect(await operated.run(args)).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(/takes the messages of the subscriber everything away[\s\S]*--yes/),
      });
      expect(await depthOf("everything")).toEqual(before);
    });

    it.each([
      [["--to", "localhost:3000"], "--to"],
      [["--to", "http://127.0.0.1:1/", "--subscriber", "nobody"], "There is no subscriber nobody"],
      [[], "--to"],
    ])("refuses %s", async (flags, reason) => {
      const result = await operated.run(["local", "forward", ...flags]);
      expect(result).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(reason) });
    });
  });

  describe("records show", () => {
    const show = async (kind: string, id: string, ...flags: string[]) => {
      const result = await operated.run(["records", "show", kind, id, "--json", ...flags]);
      expect(result).toMatchObject({ code: 0, stderr: "" });
      return { ...record.parse(result.json()), stdout: result.stdout };
    };
    const itemsOf = async (pk: string, begins: string) =>
      (await items()).filter((each) => each.pk === pk && each.sk.startsWith(begins));

    it("shows an account's state and data sets as they stand in the table", async () => {
      const [stateItem] = await itemsOf(`ACCOUNT#${account}`, "STATE");
      const { state, dataSets, data } = await show("account", account);
      expect(stateItem?.state).toMatchObject(withoutLatest(state));
      expect(state).toMatchObject({ userId: user, connected: true });
      expect(data).toBeUndefined();
      const sets = await itemsOf(`ACCOUNT#${account}`, "DATA#");
      expect(sets.length).toBeGreaterThan(3);
      expect(
        sets.map(({ data: set }) => pick(set, ["endpoint", "range", "wanted", "done", "fetchedAt"])),
      ).toEqual(dataSets.map((set) => pick(set, ["endpoint", "range", "wanted", "done", "fetchedAt"])));
      const contents = await itemsOf(`ACCOUNT#${account}`, "CONTENT#");
      const sizes = contents.flatMap(({ content }) =>
        typeof content === "string" ? [Buffer.byteLength(content)] : [],
      );
      expect(dataSets.flatMap(({ bytes }) => bytes ?? [])).toEqual(sizes);
    });

    it("shows a user with its accounts, and a company account", async () => {
      const { state, accounts } = await show("user", user);
      expect(state).toMatchObject({ version: expect.any(Number), deleted: false });
      expect(accounts).toEqual([{ id: account, state: expect.objectContaining({ connected: true }) }]);
      expect((await show("company-account", company)).subject).toBe(`company-account/${company}`);
    });

    it("masks data: names and types stay, values don't, until they are revealed", async () => {
      const contents = (await itemsOf(`ACCOUNT#${account}`, "CONTENT#profile")).flatMap(
        ({ content }) => content ?? [],
      );
      const truth = contents.map((content) => JSON.parse(String(content)));
      expect(truth.length).toBeGreaterThan(0);
      const masked = await show("account", account, "--data", "profile");
      const values = leavesOf(truth).filter((leaf) => leaf !== null && leaf !== account && leaf !== user);
      expect(values.length).toBeGreaterThan(2);
      for (const leaf of leavesOf(masked.data?.map(({ data }) => data))) expect(values).not.toContain(leaf);
      expect(namesOf(masked.data?.map(({ data }) => data))).toEqual(namesOf(truth));

      const revealed = await show("account", account, "--data", "profile", "--reveal");
      expect(revealed.data?.map(({ data }) => data)).toEqual(truth);
      const all = await show("account", account, "--reveal");
      expect(new Set(all.data?.map(({ endpoint }) => endpoint))).toEqual(
        new Set(all.dataSets.map(({ endpoint }) => endpoint)),
      );
    });

    it("prints tables for people", async () => {
      const { stdout } = await operated.run(["records", "show", "account", account, "--data", "profile"]);
      expect(stdout).toMatch(new RegExp(`^account/${account}\nversion \\d+, connected, user ${user}`));
      expect(stdout).toMatch(/\nENDPOINT +DATES +WANTED +DONE +FETCHED +BYTES +DIGEST\n/);
      expect(stdout).toContain('"(text)"');
    });

    it.each([
      [["account", "nobody"], "nothing is known of account/nobody"],
      [["person", "x"], "<kind>"],
      [["user", ""], "<id> is empty"],
    ])("refuses %s", async (args, reason) => {
      const result = await operated.run(["records", "show", ...args]);
      expect(result).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(reason) });
    });

    it("refuses an endpoint that is not there, naming those that are", async () => {
      const result = await operated.run(["records", "show", "account", account, "--data", "incme"]);
      expect(result).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/--data incme: .*it has: .*income/),
      });
    });
  });
});

function leavesOf(value: unknown): readonly unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [value];
}

function namesOf(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...namesOf(member)]);
}

function pick(value: unknown, names: readonly string[]): object {
  const fields = z.record(z.string(), z.unknown()).parse(value);
  return Object.fromEntries(names.map((name) => [name, fields[name]]));
}

function withoutLatest(state: unknown): object {
  const { latest: _, ...rest } = z.looseObject({ latest: z.unknown() }).parse(state);
  return rest;
}
