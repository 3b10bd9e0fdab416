import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { identify } from "../../../domain/event/envelope.ts";
import { isNameOrDate } from "../../../domain/event/mapping.ts";
import { isUuid } from "../../../domain/event/subjects.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import { runProgram } from "../../support/program.ts";
import { describeForward } from "./local-forward.ts";
import { type LookedUpStage, leavesOf, startLookedUpStage } from "./looked-up-stage.ts";
import { describeShownPrograms, describeSubscribersTail } from "./readme-program.ts";
import { describeRecords } from "./records.ts";

const listed = z.object({
  events: z.array(
    z.looseObject({ id: z.string(), type: z.string(), receivedAt: z.string(), state: z.string() }),
  ),
});
const shown = z.object({
  event: z.looseObject({ id: z.string() }),
  timeline: z.array(z.object({ step: z.string(), done: z.boolean().optional(), detail: z.string() })),
  body: z.unknown(),
});
const logged = z.object({
  from: z.literal("logs"),
  count: z.number(),
  events: z.array(z.looseObject({ id: z.string(), at: z.string(), kind: z.string(), outcome: z.string() })),
});

describe("looking up, on the running stack", () => {
  let stage: LookedUpStage;
  let user: string;
  let account: string;
  let other: string;
  beforeAll(async () => {
    stage = await startLookedUpStage();
    ({ user, account, other } = stage);
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  describeRecords(() => stage);
  describeForward(() => stage);
  describeShownPrograms(() => stage);

  const idsOf = (events: readonly { event: { id: string } }[]) =>
    events.map(({ event }) => event.id).toSorted();
  const list = async (...flags: string[]) => {
    const result = await stage.run(["events", "list", "--json", ...flags]);
    expect(result).toMatchObject({ code: 0 });
    const { events } = listed.parse(result.json());
    return { events, ids: events.map(({ id }) => id).toSorted(), stderr: result.stderr };
  };

  describe("events list", () => {
    it("lists a user's events and its account's, by queries of their partitions", async () => {
      const mine = (await stage.storedEvents()).filter(({ pk }) =>
        [`USER#${user}`, `ACCOUNT#${account}`].includes(pk),
      );
      expect(new Set(mine.map(({ pk }) => pk)).size).toBe(2);
      const { ids, stderr } = await list("--user", user);
      expect(ids).toEqual(idsOf(mine));
      expect(stderr).toBe("");
    });

    it("lists an account's events, including those in its user's partition", async () => {
      const mine = (await stage.storedEvents()).filter(({ event }) => event.accountId === account);
      expect((await list("--account", account)).ids).toEqual(idsOf(mine));
    });

    const listLogged = async (...flags: string[]) => {
      const before = readsOfTable();
      const result = await stage.run(["events", "list", "--json", ...flags]);
      expect(result).toMatchObject({ code: 0 });
      expect(readsOfTable()).toBe(before);
      return logged.parse(result.json());
    };
    /** Reads of the table, which must all be queries. */
    const readsOfTable = () =>
      [...stage.system.stack.gateway.calls()]
        .filter(([call]) => /^operator dynamodb:(?!Query$)/.test(call))
        .reduce((sum, [, count]) => sum + count, 0);

    it("lists all events from the functions' logs, by type, kind, endpoint and text, with their subjects and without a scan", async () => {
      const all = await stage.storedEvents();
      const found = async (...flags: string[]) =>
        (await listLogged(...flags)).events.map(({ id }) => id).toSorted();
      expect(await found("--limit", "500")).toEqual(idsOf(all));
      const ofAccounts = all.filter(({ event }) => event.type.startsWith("account."));
      expect(await found("--type", "account.*", "--kind", "accounts")).toEqual(idsOf(ofAccounts));
      const ofIncome = all.filter(({ event }) => event.endpoint === "income");
      expect(ofIncome.length).toBeGreaterThan(0);
      expect(await found("--endpoint", "income")).toEqual(idsOf(ofIncome));
      const [one] = idsOf(all);
      expect(await found("--text", one?.slice(5, 20) ?? "")).toEqual([one]);
      expect(await found("--outcome", "rejected")).toEqual([]);
      const account = String(ofAccounts[0]?.event.accountId);
      const { events } = await listLogged("--text", account, "--type", "account.*");
      expect(events.length).toBeGreaterThan(0);
      for (const { subject } of events) expect(subject).toBe(`account/${account}`);
    });

    it("lists newest first, by time and up to a limit, and reports how many more there are", async () => {
      const { events } = await listLogged("--since", "1h", "--limit", "500");
      const times = events.map(({ at }) => at);
      expect(times).toEqual(times.toSorted().toReversed());
      const middle = times[Math.floor(times.length / 2)] ?? "";
      const since = await listLogged("--since", middle, "--limit", "500");
      expect(since.events.map(({ at }) => at)).toEqual(times.filter((time) => time >= middle));
      const few = await listLogged("--limit", "2");
      expect(few.events.map(({ at }) => at)).toEqual(times.slice(0, 2));
      expect(few.count).toBe(times.length);
      const { stdout } = await stage.run(["events", "list", "--limit", "2"]);
      expect(stdout).toMatch(/^RECEIVED +TYPE +SUBJECT +TIMES +OUTCOME/);
      expect(stdout).toContain(`${times.length - 2} more`);
    });

    it("lists by state from a scan of the table after stating its cost: events to fetch, until they are fetched", async () => {
      const { ids: none, stderr } = await list("--state", "fetching");
      expect(none).toEqual([]);
      expect(stderr).toMatch(/reads the whole table: about \d+ items.*read units.*US\$/);
      stage.system.sandbox.fault({ path: `/${account}/employment`, status: 503, share: 1 });
      const id = stage.announceEndpoint({ endpoint: "employment" });
      const fetching = async () => (await list("--state", "fetching")).ids;
      await expect.poll(fetching).toHaveLength(1);
      expect(await fetching()).toEqual([id]);

      stage.system.sandbox.clearFaults();
      await waitUntilIdle(stage.system);
      expect(await fetching()).toEqual([]);
      expect((await list("--account", account, "--state", "done")).ids).toContain(id);
    });

    it("prints a table, and reports an empty one", async () => {
      const { stdout } = await stage.run(["events", "list", "--user", other]);
      expect(stdout).toMatch(/^RECEIVED +TYPE +SUBJECT +TIMES +STATE +OUTCOME +ID\n/);
      expect(stdout).toContain(`user/${other}`);
      expect(stdout).toMatch(/ endpoint\.updated +account\/\S+\/(income|profile|employment) /);
      expect(await stage.run(["events", "list", "--user", other, "--since", "1s"])).toMatchObject({
        code: 0,
        stdout: "No events found.\n",
      });
    });

    it.each([
      [["--since", "yesterday"], "--since"],
      [["--kind", "account"], "--kind"],
      [["--type", "account.*x"], "--type"],
      [["--state", "gone"], "--state"],
      [["--outcome", "lost"], "--outcome"],
      [["--outcome", "stored", "--user", "u"], "--outcome"],
    ])("refuses %s, naming the flag, before anything is read", async (flags, name) => {
      const result = await stage.run(["events", "list", ...flags]);
      expect(result).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(name) });
      expect(result.stderr).not.toContain("reads the whole table");
    });
  });

  describe("events show", () => {
    const show = async (id: string, ...flags: string[]) => {
      const result = await stage.run(["events", "show", id, "--json", ...flags]);
      expect(result).toMatchObject({ code: 0 });
      return { ...shown.parse(result.json()), ...result };
    };
    const someEvent = async (type: string) => {
      const found = (await stage.storedEvents()).findLast(({ event }) => event.type === type);
      if (found === undefined) throw new Error(`no ${type} is stored`);
      const owner = z.looseObject({ accountId: z.string() }).parse(found.event).accountId;
      return { ...found, owner };
    };

    it("shows an event by the beginning of its id, with its timeline through the stages", async () => {
      const { event, pk, owner } = await someEvent("endpoint.updated");
      const { timeline, event: found, stderr } = await show(event.id.slice(0, 12), "--account", owner);
      expect(found).toEqual(event);
      expect(stderr).toBe("");
      expect(timeline.map(({ step, done }) => [step, done])).toEqual([
        ["received", true],
        ["stored", true],
        ["fetched", true],
        ["published", true],
      ]);
      const details = timeline.map(({ detail }) => detail);
      expect(details[0]).toContain(event.receivedAt);
      expect(details[1]).toContain(pk.replace("ACCOUNT#", "account/").replace("USER#", "user/"));
      expect(details[3]).toBe("to everything");
    });

    it("accepts an id that begins like an option, and still no unknown option", async () => {
      const id = stage.announceEndpoint({ data_available: false }, (each) => each.startsWith("-"));
      await waitUntilIdle(stage.system);
      expect((await show(id, "--account", account)).event.id).toBe(id);
      expect((await show(id.slice(0, 12), "--account", account)).event.id).toBe(id);
      expect(await stage.run(["events", "show", id, "--reveel", "--account", account])).toMatchObject({
        code: 2,
      });
    });

    it("finds it in the whole table without a subject, after stating the cost", async () => {
      const { event } = await someEvent("account.created");
      const { event: found, timeline, stderr } = await show(event.id);
      expect(found).toEqual(event);
      expect(stderr).toContain("This reads the whole table");
      expect(timeline.at(-1)).toEqual({ step: "published", done: true, detail: "to everything, accounts" });
    });

    it("shows the progress of an event that is not processed yet", async () => {
      const relayed = ["dynamodb:BatchExecuteStatement", "sqs:SendMessageBatch"];
      const release = stage.refuse("Relay", relayed, "ServiceUnavailable");
      try {
        const ofData = stage.announceEndpoint({ endpoint: "bonuses" });
        const body = { event: "update_account", account_id: account, request_id: randomUUID() };
        const ofAccount = identify("accounts", Buffer.from(JSON.stringify(body)));
        stage.system.sandbox.fireEvent("accounts", JSON.stringify(body));
        const stored = async () => idsOf(await stage.storedEvents());
        await expect.poll(stored).toEqual(expect.arrayContaining([ofData, ofAccount]));
        expect((await list("--state", "stored")).ids).toEqual([ofAccount]);
        expect((await list("--state", "fetching")).ids).toEqual([ofData]);
        const stepsOf = async (id: string) =>
          (await show(id, "--account", account)).timeline.slice(2).map(({ step, done }) => `${step} ${done}`);
        expect(await stepsOf(ofAccount)).toEqual(["processed false", "published false"]);
        // The relay records nothing about it, so nobody can know whether the message was sent.
        expect(await stepsOf(ofData)).toEqual(["fetched false", "published undefined"]);
      } finally {
        release();
      }
      await waitUntilIdle(stage.system);
      expect((await list("--state", "stored")).ids).toEqual([]);
    });

    it("masks the body, except ids, unless it is to be revealed", async () => {
      const { event, body, owner } = await someEvent("account.created");
      const { text } = z.object({ text: z.string() }).parse(body);
      const ids = [event.userId, event.accountId, event.datasourceId];
      const hidden = await show(event.id, "--account", owner);
      for (const leaf of leavesOf(JSON.parse(text))) {
        // The event's name, state and dates are no personal data.
        if (typeof leaf !== "string" || ids.includes(leaf) || isNameOrDate(leaf) || isUuid(leaf)) continue;
        expect(JSON.stringify(hidden.body)).not.toContain(leaf);
      }
      expect(JSON.stringify(hidden.body)).toContain(owner);
      const revealed = await show(event.id, "--account", owner, "--reveal");
      expect(revealed.body).toEqual(JSON.parse(text));
      const { stdout } = await stage.run(["events", "show", event.id, "--account", owner]);
      expect(stdout).toContain("Body, masked (--reveal shows it):");
    });

    it("shows in which dead-letter queue an event's message waits, and leaves it there", async () => {
      stage.system.sandbox.fault({ path: `/${account}/wallet`, status: 422, share: 1 });
      const id = stage.announceEndpoint({ endpoint: "wallet" });
      await waitUntilIdle(stage.system);
      stage.system.sandbox.clearFaults();
      for (const _ of ["once", "again"]) {
        const { timeline } = await show(id, "--account", account);
        expect(timeline.filter(({ done }) => done === false)).toEqual([
          { step: "fetched", done: false, detail: "not yet" },
          {
            step: "dead letter",
            done: false,
            detail: expect.stringMatching(/^of fetch: document fetch task .*422/),
          },
        ]);
      }
    });

    it("finds an event that could not be stored among the dead letters of its kind", async () => {
      const body = JSON.stringify({ action: "surprise", data: { id: randomUUID() } });
      stage.system.sandbox.fireEvent("users", body);
      await waitUntilIdle(stage.system);
      const id = identify("users", Buffer.from(body));
      const { code, json } = await stage.run(["events", "show", id, "--json", "--user", user]);
      expect(code).toBe(0);
      expect(json()).toMatchObject({
        event: null,
        deadLetters: [{ queue: "users", id, reason: expect.any(String) }],
      });
    });

    it("refuses an unknown, an ambiguous and an invalid id", async () => {
      const refused = async (code: number, ...words: string[]) => {
        const result = await stage.run(["events", "show", ...words]);
        expect(result).toMatchObject({ code, stdout: "" });
        return result.stderr;
      };
      expect(await refused(4, "x".repeat(43), "--user", user)).toContain(
        `No stored event of user/${user}, and no dead letter`,
      );
      expect(await refused(4, "y".repeat(43))).toContain("No stored event, and no dead letter");
      // Two of 65 events share a prefix.
      for (let count = 0; count < 65; count += 1) stage.announceEndpoint({ data_available: false });
      await waitUntilIdle(stage.system);
      const firsts = (await stage.storedEvents()).map(({ event }) => event.id.charAt(0));
      const twice = firsts.find((first, index) => firsts.indexOf(first) < index) ?? "";
      expect(await refused(2, twice)).toMatch(
        new RegExp(`<id> ${twice} matches \\d+ events[^]*\n  ${twice}`),
      );
      expect(await refused(2, "no id!")).toContain('<id> "no id!" is not the id of an event');
    });
  });

  describe("events tail", () => {
    it("follows events and their effects until Ctrl-C", async () => {
      const args = ["events", "tail", "--stage", "looking-up", "--json"];
      await using tail = runProgram("packages/cli/main.ts", args);
      await tail.printed("Following the stage looking-up");
      const throttled = "ProvisionedThroughputExceededException";
      const throttle = stage.refuse("operator", ["dynamodb:GetRecords"], throttled);
      await tail.printed(`${throttled}: retrying.`);
      throttle();
      const id = stage.announceEndpoint({ endpoint: "employment" });
      await tail.printed(`account/${account}/employment"`);
      await waitUntilIdle(stage.system);
      // The outcome depends on earlier reads.
      const read = new RegExp(`"data (changed|read)","subject":"account/${account}/employment"`);
      await expect.poll(() => tail.output()).toMatch(read);
      const happenings = [...tail.output().matchAll(/^\{.*\}$/gm)].map(([line]) => JSON.parse(line));
      expect(happenings.filter((each) => each.id === id).map(({ what }) => what)).toEqual(["received"]);
      tail.signal("SIGINT");
      expect(await tail.ended).toBe(0);
    });
  });

  describeSubscribersTail(() => stage);
});
