import { randomUUID } from "node:crypto";
import { DeleteObjectCommand } from "@aws-sdk/client-s3";
import { type ProviderAnswer, startTestProvider } from "@income-events/local-stack/provider.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "@income-events/sandbox/server.ts";
import type { SQSEvent } from "aws-lambda";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { contentReader, contentStore } from "../../../adapters/dynamodb/document-store.ts";
import { revisions } from "../../../adapters/dynamodb/versioned-records.ts";
import { providerApi } from "../../../adapters/provider/provider-api.ts";
import { keptPages } from "../../../adapters/s3/kept-pages.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import type { Outgoing } from "../../../adapters/sqs/sqs-sender.ts";
import { waiting } from "../../../domain/core/failures.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { ProviderSettings } from "../../../domain/fetch/provider-settings.ts";
import { readTask, readTaskText, type Task, writeTask } from "../../../domain/fetch/tasks.ts";
import { fetcher } from "../../../functions/fetch/fetcher.ts";
import {
  describeOnTables,
  startTestSystem,
  type TestBucket,
  type TestSystem,
} from "../../support/engines.ts";
import { context, keptLog, type LogEntry, sqsEvent } from "../support/lambda.ts";

const noon = new Date("2026-11-21T12:00:00Z");
const settings: Omit<ProviderSettings, "paths"> = {
  requestsPerMinute: 1_000,
  breaker: { failures: 5, baseSeconds: 1, maxSeconds: 5 },
  timeouts: { connectSeconds: 2, headersSeconds: 5, bodySeconds: 5 },
  maxResponseBytes: 1_000_000,
  maxDataBytes: 1_000_000,
  paging: { by: "cursor", items: "data", next: "next", parameter: "cursor", maxPages: 100 },
  allowPrivateAddresses: true,
};
const paths: ProviderSettings["paths"] = {
  read: "/api/v0.4/accounts/{account_id}/{endpoint}",
  readCompany: "/api/v0.4/company-accounts/{account_id}/{endpoint}",
  account: "/api/v0.4/accounts/{account_id}",
  companyAccount: "/api/v0.4/company-accounts/{account_id}",
  users: "/api/v0.4/users",
  refresh: "/api/v0.4/token/refresh",
};
const income = { endpoint: "income" };

await describeOnTables("reading a list", (tables) => {
  let system: TestSystem;
  let bucket: TestBucket;
  let tableName: string;
  let entries: LogEntry[];
  let subject: Subject;

  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  afterAll(() => system.close());
  beforeEach(async () => {
    [bucket, { name: tableName }] = await Promise.all([system.createBucket(), system.createTable()]);
    subject = { kind: "account", id: randomUUID() };
  });

  type Circumstances = {
    /** Of the function, for each look at it. */
    readonly timeLeft?: () => number;
    /** Asked after each look at what is wanted. */
    readonly claim?: () => Promise<void>;
    /** Asked before each call. */
    readonly permit?: () => void;
    readonly others?: Partial<ProviderSettings>;
  };

  /** Runs the fetcher once for some tasks. @returns the tasks that it sent again, and why others were given up */
  async function run(
    remote: { readonly baseUrl: string; readonly token: string },
    tasks: readonly Task[],
    {
      timeLeft = () => 60_000,
      claim = async () => undefined,
      permit = () => undefined,
      others = {},
    }: Circumstances = {},
  ) {
    const provider = { ...settings, paths, ...others };
    const kept = keptLog();
    entries = kept.entries;
    const overflow = overflowBucket(bucket.name);
    const sent: Task[] = [];
    const reasons: (string | undefined)[] = [];
    const call = providerApi(remote.baseUrl, provider, () => noon);
    const handler = fetcher({
      revisions: revisions(system.dynamodb, tableName),
      claimData: async () => {
        await claim();
        return async () => undefined;
      },
      storeContent: contentStore(system.dynamodb, tableName, overflow),
      keptPages: keptPages(overflow),
      settlingInMillis: 1_000,
      call: async (apiCall) => {
        permit();
        return call(remote.token, apiCall);
      },
      gate: async () => undefined,
      send: async (url, messages: readonly Outgoing[]) => {
        if (url === "tasks") sent.push(...messages.map(({ body }) => readTaskText(body)));
        else reasons.push(...messages.map(({ reason }) => reason));
        return messages.map(() => undefined);
      },
      hide: async (_, messages) => messages.map(() => undefined),
      queueUrl: "tasks",
      deadLetterQueueUrl: "dead letters",
      provider,
      startEndpoints: [],
      readAfterSeconds: 3_600,
      retrying: {
        retry: { baseSeconds: 100, maxSeconds: 400 },
        longestOutageHours: 72,
        maxReceiveCount: 5,
      },
      now: () => noon,
      random: () => 1,
      log: kept.log,
    });
    const messages = tasks.map((task, index) => ({ MessageId: `m${index}`, Body: writeTask(task) }));
    const event: SQSEvent = sqsEvent(messages, { firstReceivedAt: noon });
    await handler(event, { ...context, getRemainingTimeInMillis: timeLeft });
    return { sent, reasons };
  }

  const want = (wanted = 1, of: Subject = subject) =>
    revisions(system.dynamodb, tableName).dataSet(of, income, (known) => ({
      subject: of,
      ...income,
      version: (known?.version ?? 0) + 1,
      wanted,
      done: 0,
      judged: [],
      latest: { cause: "again" },
    }));
  const doneOf = async () => (await revisions(system.dynamodb, tableName).loadDataSet(subject, income))?.done;
  const stored = async (of: Subject = subject) => {
    const content = await contentReader(system.dynamodb, tableName, overflowBucket(bucket.name))(of, income);
    return content && Buffer.concat(content.parts).toString();
  };

  /** A sandbox with one account whose income is there: eight items. */
  async function sandboxFor(options: SandboxOptions = {}): Promise<Sandbox> {
    const sandbox = await startSandbox(options);
    onTestFinished(() => sandbox.close());
    const { accounts } = await sandbox.createUsers(1);
    const id = accounts[0] ?? "";
    await fetch(`${sandbox.baseUrl}/api/v0.4/accounts/${id}/fetches`, {
      method: "POST",
      headers: { authorization: `Bearer ${sandbox.token}`, "content-type": "application/json" },
      body: JSON.stringify({ endpoints: ["income"] }),
    });
    await sandbox.settled();
    subject = { kind: "account", id };
    await want();
    return sandbox;
  }
  /** The statuses of the calls that the sandbox counted. */
  const callsOf = (sandbox: Sandbox) =>
    sandbox
      .calls()
      .filter(({ path }) => path.endsWith("/income"))
      .map(({ status }) => status);
  const wholeOf = (sandbox: Sandbox) => ({ ...Object(sandbox.data(subject.id, "income")), next: null });

  /** A provider that answers as a test says; what it was asked for is told by path and query. */
  async function providerFor(answer: (path: string, count: number) => ProviderAnswer) {
    const provider = await startTestProvider();
    onTestFinished(provider.close);
    provider.answer = ({ path }, count) => answer(path, count);
    await want();
    return { baseUrl: provider.url, token: "jwt", requests: provider.requests };
  }

  describe("that the sandbox pages", () => {
    test("follows it to its end, and stores what one page would have held", async () => {
      const sandbox = await sandboxFor({ pageSize: 3 });
      expect(await run(sandbox, [readTask(subject, income, 1)])).toEqual({ sent: [], reasons: [] });
      expect(callsOf(sandbox)).toEqual([200, 200, 200]);
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
      expect(entries).toMatchObject([{ code: "TASK_DONE" }]);
      expect(await bucket.keys()).toEqual([]);
    });

    test("asks for pages of the size that the settings say", async () => {
      const sandbox = await sandboxFor();
      const paging = { ...settings.paging, pageSize: { parameter: "limit", items: 2 } };
      await run(sandbox, [readTask(subject, income, 1)], { others: { paging } });
      expect(callsOf(sandbox)).toEqual([200, 200, 200, 200]);
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test("leaves a whole answer as it is, byte for byte", async () => {
      const sandbox = await sandboxFor();
      await run(sandbox, [readTask(subject, income, 1)]);
      expect(callsOf(sandbox)).toEqual([200]);
      expect(await stored()).toBe(JSON.stringify(sandbox.data(subject.id, "income")));
    });

    test("finds lists and cursors under other names", async () => {
      const sandbox = await sandboxFor({ pageSize: 3 });
      sandbox.shape("data-answer", { results: { rows: "{{data}}" }, meta: { after: "{{next}}" } });
      const paging = { ...settings.paging, items: "results.rows", next: "meta.after" };
      await run(sandbox, [readTask(subject, income, 1)], { others: { paging } });
      const { data } = wholeOf(sandbox);
      expect(JSON.parse((await stored()) ?? "")).toEqual({ results: { rows: data }, meta: { after: null } });
    });

    test("of which a page fails goes on from there: no page is read twice", async () => {
      const sandbox = await sandboxFor({ pageSize: 2 });
      // The third of the next calls.
      sandbox.fault({ path: "/income", status: 503, share: 1 / 3, times: 1 });
      const first = await run(sandbox, [readTask(subject, income, 1)]);
      expect(first.reasons).toEqual([]);
      expect(first.sent).toMatchObject([{ attempts: 1, since: noon.toISOString(), progress: { noted: 1 } }]);
      expect(await stored()).toBeUndefined();
      // An erasure finds them by their subject.
      expect(await bucket.keys()).toEqual([
        expect.stringMatching(new RegExp(`^pages/account/${subject.id}/income/.+\\.gz$`)),
      ]);
      expect(await run(sandbox, first.sent)).toEqual({ sent: [], reasons: [] });
      expect(callsOf(sandbox)).toEqual([200, 200, 503, 200, 200]);
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test("of which a page fails again and again keeps its place, and stores nothing twice", async () => {
      const sandbox = await sandboxFor({ pageSize: 4 });
      sandbox.fault({ path: "/income", status: 503, share: 1 / 2, times: 1 });
      const { sent } = await run(sandbox, [readTask(subject, income, 1)]);
      const puts = () =>
        [...system.calls()].flatMap(([name, count]) => (name.includes("s3:PutObject") ? [count] : []));
      const before = puts();
      sandbox.fault({ path: "/income", status: 503 });
      const again = await run(sandbox, sent);
      expect(again).toEqual({ sent: [expect.objectContaining({ attempts: 2 })], reasons: [] });
      expect(puts()).toEqual(before);
      await run(sandbox, again.sent);
      expect(callsOf(sandbox)).toEqual([200, 503, 503, 200]);
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test("goes on in further runs where the time of one is over, which is no attempt", async () => {
      const sandbox = await sandboxFor({ pageSize: 2 });
      let tasks: readonly Task[] = [readTask(subject, income, 1)];
      // Enough for the call that is under way, and for none more.
      const timeLeft = () => 12_999;
      for (let runs = 1; runs <= 3; runs += 1) {
        const { sent } = await run(sandbox, tasks, { timeLeft });
        expect(sent).toMatchObject([{ attempts: 0, progress: { from: { pages: runs } } }]);
        expect(entries).toMatchObject([{ code: "TASK_POSTPONED", reason: "more pages are left" }]);
        tasks = sent;
      }
      expect(await run(sandbox, tasks, { timeLeft })).toEqual({ sent: [], reasons: [] });
      expect(callsOf(sandbox)).toEqual([200, 200, 200, 200]);
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test("goes on later where the rate is used up in the middle, which is no attempt", async () => {
      const sandbox = await sandboxFor({ pageSize: 3 });
      let permits = 2;
      const permit = () => {
        permits -= 1;
        if (permits < 0) throw waiting("the rate", 30);
      };
      const { sent } = await run(sandbox, [readTask(subject, income, 1)], { permit });
      expect(sent).toMatchObject([{ attempts: 0, progress: { from: { pages: 2 } } }]);
      await run(sandbox, sent);
      expect(callsOf(sandbox)).toEqual([200, 200, 200]);
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test("begins again where what was kept is gone, which is an attempt", async () => {
      const sandbox = await sandboxFor({ pageSize: 4 });
      const { sent } = await run(sandbox, [readTask(subject, income, 1)], { timeLeft: () => 9_000 });
      for (const Key of await bucket.keys()) {
        await system.s3.send(new DeleteObjectCommand({ Bucket: bucket.name, Key }));
      }
      const again = await run(sandbox, sent);
      expect(again.sent).toEqual([expect.objectContaining({ attempts: 1 })]);
      expect(again.sent[0]).not.toHaveProperty("progress");
      expect(await run(sandbox, again.sent)).toEqual({ sent: [], reasons: [] });
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test.each([400, 404, 410])(
      "begins again where the provider answers %i to a cursor, which is an attempt",
      async (status) => {
        const sandbox = await sandboxFor({ pageSize: 4 });
        sandbox.fault({ path: "/income", status, share: 1 / 2, times: 1 });
        const { sent, reasons } = await run(sandbox, [readTask(subject, income, 1)]);
        expect(reasons).toEqual([]);
        expect(sent).toEqual([expect.objectContaining({ attempts: 1 })]);
        expect(sent[0]).not.toHaveProperty("progress");
        expect(await stored()).toBeUndefined();
        await run(sandbox, sent);
        expect(callsOf(sandbox)).toEqual([200, status, 200, 200]);
        expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
      },
    );

    test("is read again from the start where its pages can't be kept", async () => {
      const sandbox = await sandboxFor({ pageSize: 4 });
      sandbox.fault({ path: "/income", status: 503, share: 1 / 2, times: 1 });
      const working = system.fail("s3:PutObject");
      const { sent } = await run(sandbox, [readTask(subject, income, 1)]);
      working();
      expect(sent).toEqual([{ ...readTask(subject, income, 1), attempts: 1, since: noon.toISOString() }]);
      await run(sandbox, sent);
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test("whose pages can't be kept when its time is over is tried again, which is an attempt", async () => {
      const sandbox = await sandboxFor({ pageSize: 4 });
      const working = system.fail("s3:PutObject");
      const { sent } = await run(sandbox, [readTask(subject, income, 1)], { timeLeft: () => 9_000 });
      working();
      expect(sent).toEqual([{ ...readTask(subject, income, 1), attempts: 1, since: noon.toISOString() }]);
    });

    test("leaves to the next read what was wanted while it was read", async () => {
      const sandbox = await sandboxFor({ pageSize: 4 });
      const { sent } = await run(sandbox, [readTask(subject, income, 1)], { timeLeft: () => 9_000 });
      await want(2);
      await run(sandbox, sent);
      expect(await doneOf()).toBe(1);
      await run(sandbox, [readTask(subject, income, 2)]);
      expect(await doneOf()).toBe(2);
      expect(callsOf(sandbox)).toEqual([200, 200, 200, 200]);
    });

    test("that another read has overtaken is not read on", async () => {
      const sandbox = await sandboxFor({ pageSize: 4 });
      const { sent } = await run(sandbox, [readTask(subject, income, 1)], { timeLeft: () => 9_000 });
      await run(sandbox, [readTask(subject, income, 1)]);
      await run(sandbox, sent);
      expect(entries).toMatchObject([{ code: "TASK_VOID" }]);
      expect(callsOf(sandbox)).toEqual([200, 200, 200]);
    });
  });

  test("is cut before the function's own time ends: the task is sent again, and no message comes back by itself", async () => {
    const sandbox = await sandboxFor();
    sandbox.fault({ path: "/income", effect: "hang" });
    // A tenth of a second, and what the function keeps for settling.
    const { sent, reasons } = await run(sandbox, [readTask(subject, income, 1)], { timeLeft: () => 1_100 });
    expect(reasons).toEqual([]);
    expect(sent).toMatchObject([{ attempts: 1 }]);
    expect(entries).toMatchObject([{ reason: "the provider could not be reached: it took too long" }]);
  });

  test("keeps the digits of every number, however its pages are spaced", async () => {
    const remote = await providerFor((path) =>
      path.includes("cursor=")
        ? {
            text: '{ "total":1e400, "data" : [\n 0.10, -0,"ü\\u0000" ] ,"next":null, "n":12345678901234567890 }',
          }
        : { text: '{"data":[12345678901234567890, {"amount":1.10,"data":[2.50]}],"next":"b"}' },
    );
    expect(await run(remote, [readTask(subject, income, 1)])).toEqual({ sent: [], reasons: [] });
    expect(await stored()).toBe(
      '{ "total":1e400, "data" : [12345678901234567890, {"amount":1.10,"data":[2.50]},0.10, -0,"ü\\u0000"] ,"next":null, "n":12345678901234567890 }',
    );
  });

  test("makes one list of pages of which some are empty", async () => {
    const pages: Record<string, string> = {
      "": '{"data":[],"next":"b"}',
      b: '{"data":[1],"next":"c"}',
      c: '{"data":[ ],"next":"d"}',
      d: '{"data":[2]}',
    };
    const remote = await providerFor((path) => ({ text: pages[path.split("cursor=")[1] ?? ""] ?? "" }));
    await run(remote, [readTask(subject, income, 1)]);
    expect(await stored()).toBe('{"data":[1,2]}');
  });

  test("keeps a large one in the bucket, and its pages apart from it", async () => {
    const item = JSON.stringify("x".repeat(300_000));
    const remote = await providerFor((path) => ({
      text: `{"data":[${item}],"next":${path.includes("cursor") ? "null" : '"b"'}}`,
    }));
    await run(remote, [readTask(subject, income, 1)]);
    expect(await stored()).toBe(`{"data":[${item},${item}],"next":null}`);
    expect(await bucket.keys()).toEqual([expect.stringMatching(/^data\//)]);
  });

  test("follows links on the provider's own host only: the token goes nowhere else", async () => {
    const elsewhere = await startTestProvider();
    onTestFinished(elsewhere.close);
    const paging = { ...settings.paging, by: "link" } as const;
    const remote = await providerFor((path) => {
      if (path.endsWith("/income")) return { json: { data: [1], next: "?page=2" } };
      return { json: { data: [2], next: `${elsewhere.url}/page3` } };
    });
    const { sent, reasons } = await run(remote, [readTask(subject, income, 1)], { others: { paging } });
    expect(sent).toEqual([]);
    expect(reasons).toEqual([
      "an answer's link leads to another origin; see provider.baseUrls and provider.paging",
    ]);
    expect(remote.requests).toHaveLength(2);
    expect(elsewhere.requests).toEqual([]);
  });

  test("counts pages where the settings say so, until one is empty", async () => {
    const paging = { ...settings.paging, by: "page", parameter: "page" } as const;
    const remote = await providerFor((path) => ({
      json: { "": [1], "2": [2], "3": [] }[path.split("page=")[1] ?? ""],
    }));
    await run(remote, [readTask(subject, income, 1)], { others: { paging } });
    expect(remote.requests).toHaveLength(3);
    expect(await stored()).toBe("[1,2]");
  });

  test.each<
    [
      string,
      Partial<ProviderSettings>,
      (count: number) => object,
      { readonly reason: string; readonly calls: number },
    ]
  >([
    [
      "has too many pages",
      { paging: { ...settings.paging, maxPages: 3 } },
      (count) => ({ data: [1], next: `c${count}` }),
      { reason: "the list has over 3 pages; see provider.paging.maxPages", calls: 3 },
    ],
    [
      "repeats a cursor",
      {},
      () => ({ data: [1], next: "again" }),
      { reason: "the list's pages go in circles; see provider.paging", calls: 2 },
    ],
    [
      "is too large in all",
      { maxDataBytes: 1_000 },
      (count) => ({ data: ["x".repeat(300)], next: `c${count}` }),
      { reason: "the data is over 1000 bytes; see provider.maxDataBytes", calls: 4 },
    ],
  ])("gives up one that %s, with the setting's name", async (_, others, page, { reason, calls }) => {
    const remote = await providerFor((_path, count) => ({ json: page(count) }));
    expect(await run(remote, [readTask(subject, income, 1)], { others })).toEqual({
      sent: [],
      reasons: [reason],
    });
    expect(remote.requests).toHaveLength(calls);
    expect(await stored()).toBeUndefined();
  });

  test("that waited for another one until the time was over makes no call that would be cut", async () => {
    const sandbox = await sandboxFor({ pageSize: 4 });
    const { sent } = await run(sandbox, [readTask(subject, income, 1)], { timeLeft: () => 9_000 });
    const calls = callsOf(sandbox).length;
    // As two messages of the same task: the first reads its page, the second finds the time gone.
    const both = Promise.withResolvers<void>();
    let claims = 0;
    const claim = () => {
      claims += 1;
      if (claims === 2) both.resolve();
      return both.promise;
    };
    const again = await run(sandbox, [...sent, ...sent], { timeLeft: () => 9_000, claim });
    expect(callsOf(sandbox)).toHaveLength(calls + 1);
    expect(again.reasons).toEqual([]);
    expect(entries.map(({ code }) => code).toSorted()).toEqual(["TASK_DONE", "TASK_POSTPONED"]);
    expect(entries).toContainEqual(expect.objectContaining({ reason: "more pages are left" }));
  });

  test("collects one at a time: together they would not fit the function's memory", async () => {
    let collecting = 0;
    let most = 0;
    const remote = await providerFor((path) => {
      if (!path.includes("cursor=")) return { json: { data: [1], next: "a" } };
      collecting += 1;
      most = Math.max(most, collecting);
      return (response) => {
        setImmediate(() => {
          collecting -= 1;
          response.writeHead(200).end(`{"data":[2],"next":${path.endsWith("a") ? '"b"' : "null"}}`);
        });
      };
    });
    const subjects: Subject[] = Array.from({ length: 8 }, () => ({ kind: "account", id: randomUUID() }));
    for (const each of subjects) await want(1, each);
    await run(
      remote,
      subjects.map((each) => readTask(each, income, 1)),
    );
    expect(most).toBe(1);
    for (const each of subjects) expect(await stored(each)).toBe('{"data":[1,2,2],"next":null}');
  });
});
