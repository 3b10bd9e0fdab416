import { randomUUID } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { startTestProvider, type TestProvider } from "@income-events/local-stack/provider.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { dataClaims } from "../../../adapters/dynamodb/claims.ts";
import { contentOf, contentStore } from "../../../adapters/dynamodb/document-store.ts";
import { type Revisions, revisions } from "../../../adapters/dynamodb/versioned-records.ts";
import { guardedCall } from "../../../adapters/provider/guarded-call.ts";
import { providerApi } from "../../../adapters/provider/provider-api.ts";
import { callWindow } from "../../../adapters/provider/rate-limiter.ts";
import { refusalNote } from "../../../adapters/provider/refusal-note.ts";
import { sharedBreaker } from "../../../adapters/provider/shared-breaker.ts";
import { withToken } from "../../../adapters/provider/with-token.ts";
import { keptPages } from "../../../adapters/s3/kept-pages.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { secretReader } from "../../../adapters/secrets/secret-reader.ts";
import { tokenRefusals } from "../../../adapters/secrets/token-refusals.ts";
import { parseTokenSecret } from "../../../adapters/secrets/token-secret.ts";
import { messageVisibility } from "../../../adapters/sqs/message-visibility.ts";
import { type Outgoing, sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { type DataSet, wantFor } from "../../../domain/fetch/document.ts";
import type { DateRange } from "../../../domain/fetch/document-name.ts";
import type { ProviderSettings } from "../../../domain/fetch/provider-settings.ts";
import {
  askTask,
  checkTask,
  readTask,
  readTaskText,
  startTask,
  type Task,
  writeTask,
} from "../../../domain/fetch/tasks.ts";
import type { State } from "../../../domain/state/state.ts";
import type { FetcherDependencies } from "../../../functions/fetch/dependencies.ts";
import { fetcher } from "../../../functions/fetch/fetcher.ts";
import type { VerdictSettings } from "../../../functions/fetch/verdict.ts";
import {
  describeOnTables,
  startTestSystem,
  type TestBucket,
  type TestSystem,
  type TestTable,
} from "../../support/engines.ts";
import { deliver, keptLog, type LogEntry, type Receives } from "../support/lambda.ts";

const claimLife = 60;
const readAfterSeconds = 3_600;
const noon = new Date("2026-11-21T12:00:30Z");
const patient: VerdictSettings = {
  retry: { baseSeconds: 200, maxSeconds: 900 },
  longestOutageHours: 72,
  maxReceiveCount: 5,
};

const provider: ProviderSettings = {
  paths: {
    read: "/accounts/{account_id}/{endpoint}",
    readCompany: "/company/{account_id}/{endpoint}",
    account: "/accounts/{account_id}",
    companyAccount: "/company/{account_id}",
    user: "/users/{user_id}",
    users: "/users",
    refresh: "/refresh",
  },
  requestsPerMinute: 1_000,
  breaker: { failures: 100, baseSeconds: 10, maxSeconds: 300 },
  timeouts: { connectSeconds: 1, headersSeconds: 5, bodySeconds: 5 },
  maxResponseBytes: 1_000_000,
  maxDataBytes: 2_000_000,
  paging: { by: "cursor", items: "data", next: "next", parameter: "cursor", maxPages: 10 },
  allowPrivateAddresses: true,
};
const started: ProviderSettings = {
  ...provider,
  paths: {
    ...provider.paths,
    start: { method: "POST", path: "/accounts/{account_id}/fetches", body: { endpoints: "{endpoints}" } },
  },
};

await describeOnTables("the fetcher", (tables) => {
  let system: TestSystem;
  let remote: TestProvider;
  let table: TestTable;
  let bucket: TestBucket;
  let known: Revisions;
  let queueUrl: string;
  let deadLetterQueueUrl: string;
  let token: string;
  let refreshesAsked: number;
  let entries: LogEntry[];
  let sent: Outgoing[];
  let clock: Date;
  let subject: Subject;
  let retrying: VerdictSettings;

  beforeAll(async () => {
    [system, remote] = await Promise.all([startTestSystem(tables), startTestProvider()]);
    bucket = await system.createBucket();
  });
  afterAll(() => Promise.all([system.close(), remote.close()]));

  beforeEach(async () => {
    [table, queueUrl, deadLetterQueueUrl] = await Promise.all([
      system.createTable(),
      system.createQueue(),
      system.createQueue(),
    ]);
    known = revisions(system.dynamodb, table.name);
    token = system.createSecret({ token: "jwt" });
    refreshesAsked = 0;
    subject = { kind: "account", id: randomUUID() };
    sent = [];
    clock = noon;
    retrying = patient;
    remote.requests.length = 0;
    remote.answer = () => 500;
  });

  const askRefresh = async () => {
    refreshesAsked += 1;
  };

  /** One environment of the function: its token and its lot of calls are its own. */
  function fetcherOf(settings: ProviderSettings = provider, others: Partial<FetcherDependencies> = {}) {
    const kept = keptLog();
    entries = kept.entries;
    const now = () => clock;
    const reader = secretReader(system.secretsManager, token, parseTokenSecret, { now });
    const refusals = tokenRefusals(refusalNote(system.dynamodb, table.name), askRefresh, now);
    const breaker = sharedBreaker(system.dynamodb, table.name, {
      settings: settings.breaker,
      longestCallInSeconds: 11,
      now,
      random: () => 0.5,
      onTurn: () => undefined,
    });
    const window = callWindow(system.dynamodb, table.name, settings.requestsPerMinute, { now });
    const overflow = overflowBucket(bucket.name);
    return fetcher({
      revisions: known,
      claimData: dataClaims(system.dynamodb, table.name, claimLife, now),
      storeContent: contentStore(system.dynamodb, table.name, overflow),
      keptPages: keptPages(overflow),
      settlingInMillis: 1_000,
      call: withToken(
        guardedCall(providerApi(remote.url, settings, now), breaker.admit, window.permit),
        reader,
        refusals,
      ),
      gate: breaker.gate,
      send: (url, messages) => {
        if (url === queueUrl) sent.push(...messages);
        return sqsSender(system.sqs)(url, messages);
      },
      queueUrl,
      deadLetterQueueUrl,
      provider: settings,
      startEndpoints: ["income", "profile"],
      hide: messageVisibility(system.sqs),
      readAfterSeconds,
      retrying,
      now,
      random: () => 0.5,
      log: kept.log,
      ...others,
    });
  }

  async function perform(
    task: Task | string,
    settings = provider,
    receives: Receives = {},
  ): Promise<readonly string[]> {
    await system.send(queueUrl, typeof task === "string" ? task : writeTask(task));
    return deliver(system, queueUrl, fetcherOf(settings), { firstReceivedAt: noon, ...receives });
  }

  const codes = () => entries.map(({ code }) => code);
  const hiddenUntilNow = async () => {
    const command = new GetQueueAttributesCommand({
      QueueUrl: queueUrl,
      AttributeNames: ["ApproximateNumberOfMessagesNotVisible"],
    });
    const { Attributes } = await system.sqs.send(command);
    return Number(Attributes?.ApproximateNumberOfMessagesNotVisible);
  };
  const requests = () => ({
    sent: system.calls().get("test sqs:SendMessageBatch") ?? 0,
    hidden: system.calls().get("test sqs:ChangeMessageVisibilityBatch") ?? 0,
  });
  const calls = () => remote.requests.map(({ method, path }) => `${method} ${path}`);
  const deadLetters = async () =>
    (await system.drain(deadLetterQueueUrl)).map(({ Body, MessageAttributes }) => ({
      body: Body,
      reason: MessageAttributes?.reason?.StringValue,
    }));
  const want = (endpoint: string, facts: Partial<DataSet> = {}) =>
    known.dataSet(subject, { endpoint }, () => ({
      subject,
      endpoint,
      version: 1,
      wanted: 1,
      done: 0,
      judged: [],
      latest: { cause: "again" },
      ...facts,
    }));
  const put = (facts: Partial<State> = {}) =>
    // A state is written only over the version before it.
    reach(facts.version ?? 1, (version) =>
      known.state(subject, () => ({
        subject,
        deleted: false,
        unconfirmed: true,
        judged: [],
        latest: { cause: "again" },
        ...facts,
        version,
      })),
    );
  const content = (endpoint = "income") => table.item(`ACCOUNT#${subject.id}`, `CONTENT#${endpoint}`);

  /** What a task was sent again as; its queue does not show a message that is held back. */
  async function postponed(task: Task): Promise<readonly { task: Task; delay: number | undefined }[]> {
    await perform(task);
    return sent.map(({ body, delayInSeconds }) => ({ task: readTaskText(body), delay: delayInSeconds }));
  }

  describe("starting an account's fetch", () => {
    beforeEach(() => put());

    test("calls the path of the settings with the body filled in", async () => {
      remote.answer = () => ({ status: 202, json: { ok: true } });
      expect(await perform(startTask(subject, 4), started)).toEqual([]);
      expect(remote.requests).toMatchObject([
        {
          method: "POST",
          path: `/accounts/${subject.id}/fetches`,
          body: '{"endpoints":["income","profile"]}',
          headers: { authorization: "Bearer jwt" },
        },
      ]);
      expect(codes()).toEqual(["TASK_DONE"]);
      expect(await table.items(`ACCOUNT#${subject.id}`)).toMatchObject([{ sk: "STATE" }]);
    });

    test.each([provider, started])("is void where the account was erased since (%#)", async (settings) => {
      subject = { kind: "account", id: randomUUID() };
      expect(await perform(startTask(subject, 4), settings)).toEqual([]);
      expect(codes()).toEqual(["TASK_VOID"]);
      expect(calls()).toEqual([]);
      expect(await table.items(`ACCOUNT#${subject.id}`)).toEqual([]);
    });

    test("goes straight to reading where no path is set: each endpoint is wanted once", async () => {
      for (let time = 0; time < 2; time += 1) expect(await perform(startTask(subject, 4))).toEqual([]);
      expect(calls()).toEqual([]);
      for (const endpoint of ["income", "profile"]) {
        expect(await known.loadDataSet(subject, { endpoint })).toMatchObject({
          version: 1,
          wanted: 1,
          done: 0,
        });
      }
      await perform(startTask(subject, 5));
      expect(await known.loadDataSet(subject, { endpoint: "income" })).toMatchObject({
        version: 2,
        wanted: 2,
      });
    });

    test("of a company account is reading, whatever the path of accounts is", async () => {
      subject = { kind: "company-account", id: randomUUID() };
      await put();
      await perform(startTask(subject, 1), started);
      expect(calls()).toEqual([]);
      expect(await known.loadDataSet(subject, { endpoint: "profile" })).toMatchObject({ wanted: 1 });
    });

    test.each([404, 410])("of an account that the provider answers with %i is done", async (status) => {
      remote.answer = () => status;
      expect(await perform(startTask(subject, 1), started)).toEqual([]);
      expect(sent).toEqual([]);
      expect(codes()).toEqual(["TASK_DONE"]);
      expect(await deadLetters()).toEqual([]);
    });

    test("answered with 409 is done, and checked: it is not connected any more, or a fetch runs already", async () => {
      remote.answer = () => 409;
      expect(await perform(startTask(subject, 1), started)).toEqual([]);
      expect(codes()).toEqual(["TASK_DONE"]);
      expect(sent.map(({ body }) => readTaskText(body))).toMatchObject([{ task: "check", version: 1 }]);
      expect(await deadLetters()).toEqual([]);
    });
  });

  describe("a start that was called", () => {
    const connected = { version: 4, connected: true, unconfirmed: false };
    const due = new Date(noon.getTime() + readAfterSeconds * 1000);
    const wantedOf = async (endpoint: string) =>
      (await known.loadDataSet(subject, { endpoint }))?.wanted ?? 0;
    const answer = (endpoint: string, mark: string, range?: DateRange) => {
      const name = range === undefined ? { endpoint } : { endpoint, range };
      return known.dataSet(subject, name, (before) => wantFor(before, subject, name, { mark }));
    };

    const cause = "the-event";
    /** Starts, lets something happen, and does what the fetcher sent itself when it is due. */
    async function startAndCheck(between: () => Promise<unknown> = async () => undefined): Promise<void> {
      await put(connected);
      remote.answer = () => ({ status: 202, json: {} });
      await perform(startTask(subject, 4, cause), started);
      const [check, ...others] = sent.splice(0);
      expect(others).toEqual([]);
      await between();
      clock = due;
      await perform(check?.body ?? "", started);
    }

    test("is checked when the time of the settings is over, by way of waits that SQS knows", async () => {
      remote.answer = () => ({ status: 202, json: {} });
      await put(connected);
      await perform(startTask(subject, 4), started);
      const wanted = { income: 0, profile: 0 };
      const check = checkTask(subject, 4, wanted, { due });
      expect(sent).toEqual([{ body: writeTask(check), delayInSeconds: 900 }]);
      sent = [];
      clock = new Date(noon.getTime() + 900_000);
      expect(await postponed(check)).toEqual([{ task: check, delay: 900 }]);
      expect(await known.loadDataSets(subject)).toEqual([]);
    });

    test("and that nothing answered is read anyway, each endpoint once", async () => {
      await startAndCheck();
      expect([await wantedOf("income"), await wantedOf("profile")]).toEqual([1, 1]);
      expect(entries).toMatchObject([
        { code: "START_UNANSWERED", count: 2, correlationId: cause },
        { code: "TASK_DONE", correlationId: cause },
      ]);
      // What reads it then goes on under the id of the event that led to the start.
      const { latest } = (await known.loadDataSet(subject, { endpoint: "income" })) ?? {};
      expect(latest).toEqual({ cause: "again", correlationId: cause });
      await perform(checkTask(subject, 4, { income: 0, profile: 0 }, { due }), started);
      expect([await wantedOf("income"), await wantedOf("profile")]).toEqual([1, 1]);
      expect(codes()).toEqual(["TASK_VOID"]);
    });

    test("is read only where no event answered", async () => {
      await startAndCheck(() => answer("income", "event.1"));
      expect([await wantedOf("income"), await wantedOf("profile")]).toEqual([1, 1]);
      expect(entries).toMatchObject([{ code: "START_UNANSWERED", count: 1 }, { code: "TASK_DONE" }]);
    });

    test("is answered by an event that tells dates", async () => {
      await startAndCheck(() => answer("income", "event.1", { start: "2026-01-01", end: "2026-01-31" }));
      expect([await wantedOf("income"), await wantedOf("profile")]).toEqual([0, 1]);
    });

    test("is answered by an event that came before the call's own answer", async () => {
      await put(connected);
      remote.answer = async () => {
        await answer("income", "event.1");
        return { status: 202, json: {} };
      };
      await perform(startTask(subject, 4), started);
      clock = due;
      await perform(sent[0]?.body ?? "", started);
      expect([await wantedOf("income"), await wantedOf("profile")]).toEqual([1, 1]);
    });

    test("is not answered by events from before it", async () => {
      await answer("income", "event.1");
      await startAndCheck();
      expect(await wantedOf("income")).toBe(2);
    });

    test.each<[string, Partial<State>]>([
      ["disconnected", { connected: false }],
      ["deleted", { deleted: true }],
    ])("is forgotten where the account was %s since", async (_, facts) => {
      await startAndCheck(() => known.state(subject, (state) => state && { ...state, ...facts, version: 5 }));
      expect(await known.loadDataSets(subject)).toEqual([]);
      expect(codes()).toEqual(["TASK_VOID"]);
    });

    test("whose check can't be sent is started again", async () => {
      await put(connected);
      remote.answer = () => ({ status: 202, json: {} });
      const working = system.fail("sqs:SendMessageBatch");
      expect(await perform(startTask(subject, 4), started)).toHaveLength(1);
      working();
    });
  });

  describe("reading an endpoint", () => {
    const text = '{"amount": 12345678901234567890.10}';

    test("stores the data byte for byte, and says that it is new", async () => {
      await want("income", { wanted: 3 });
      remote.answer = () => ({ text });
      expect(await perform(readTask(subject, { endpoint: "income" }, 2))).toEqual([]);
      expect(calls()).toEqual([`GET /accounts/${subject.id}/income`]);
      expect(await content()).toMatchObject({ content: text, digest: contentOf(text).digest, done: 3 });
      expect(await known.loadDataSet(subject, { endpoint: "income" })).toMatchObject({
        version: 2,
        wanted: 3,
        done: 3,
        content: contentOf(text).digest,
        latest: { cause: "answer", at: noon.toISOString() },
      });
    });

    test("of a company account calls its own path", async () => {
      subject = { kind: "company-account", id: randomUUID() };
      await want("income");
      remote.answer = () => ({ text });
      await perform(readTask(subject, { endpoint: "income" }, 1));
      expect(calls()).toEqual([`GET /company/${subject.id}/income`]);
      expect(await table.item(`COMPANY#${subject.id}`, "CONTENT#income")).toMatchObject({ content: text });
    });

    test("by dates asks for these only, and keeps them apart from all else of the endpoint", async () => {
      const range = { start: "2026-01-01", end: "2026-01-31" };
      const name = { endpoint: "income", range };
      const readRange = "/accounts/{account_id}/{endpoint}?date_start={date_start}&date_end={date_end}";
      const byDates = { ...provider, paths: { ...provider.paths, readRange } };
      await want("income");
      await known.dataSet(subject, name, (before) => wantFor(before, subject, name, { mark: "test" }));
      remote.answer = () => ({ text });
      expect(await perform(readTask(subject, name, 1), byDates)).toEqual([]);
      expect(calls()).toEqual([
        `GET /accounts/${subject.id}/income?date_start=2026-01-01&date_end=2026-01-31`,
      ]);
      expect(
        await table.item(`ACCOUNT#${subject.id}`, "CONTENT#income#2026-01-01..2026-01-31"),
      ).toMatchObject({ content: text, done: 1 });
      expect(await known.loadDataSet(subject, name)).toMatchObject({ range, done: 1 });
      expect(await content()).toBeUndefined();
      expect(await known.loadDataSet(subject, { endpoint: "income" })).toMatchObject({ done: 0 });
    });

    test("of which the data is large keeps it in the bucket", async () => {
      const large = JSON.stringify({ filler: "x".repeat(500_000) });
      await want("income");
      remote.answer = () => ({ text: large });
      await perform(readTask(subject, { endpoint: "income" }, 1));
      const { object } = (await content()) ?? {};
      expect(gunzipSync(await bucket.bytes(String(object))).toString()).toBe(large);
    });

    test.each([
      ["that is done", { wanted: 2, done: 2 }, 2],
      ["that a later one has overtaken", { wanted: 5, done: 3 }, 2],
    ])("%s is void: nothing is called", async (_, facts, wanted) => {
      await want("income", facts);
      expect(await perform(readTask(subject, { endpoint: "income" }, wanted))).toEqual([]);
      expect(calls()).toEqual([]);
      expect(codes()).toEqual(["TASK_VOID"]);
    });

    test("that nothing is known of is void", async () => {
      expect(await perform(readTask(subject, { endpoint: "income" }, 1))).toEqual([]);
      expect(calls()).toEqual([]);
    });

    test("that others want too calls once: they wait for the claim to end, and are void then", async () => {
      await want("income", { wanted: 2 });
      remote.answer = () => ({ text });
      const tasks = [1, 2, 2].map((wanted) => readTask(subject, { endpoint: "income" }, wanted));
      for (const task of tasks) await system.send(queueUrl, writeTask(task));
      await deliver(system, queueUrl, fetcherOf());
      expect(calls()).toHaveLength(1);
      expect(codes().toSorted()).toEqual(["TASK_DONE", "TASK_POSTPONED", "TASK_POSTPONED"]);
      expect(entries.filter(({ code }) => code === "TASK_POSTPONED")).toMatchObject([
        { reason: "another task reads this data" },
        { reason: "another task reads this data" },
      ]);
      for (const task of tasks) await perform(task);
      expect(calls()).toHaveLength(1);
      expect(await known.loadDataSet(subject, { endpoint: "income" })).toMatchObject({ version: 2, done: 2 });
    });

    test("that another began and died over is read when the dead one's claim has ended", async () => {
      await want("income");
      const claim = dataClaims(system.dynamodb, table.name, claimLife, () => noon);
      await claim(subject, { endpoint: "income" }, 1, noon);
      remote.answer = () => ({ text });
      await perform(readTask(subject, { endpoint: "income" }, 1));
      expect(calls()).toEqual([]);
      clock = new Date(noon.getTime() + claimLife * 1000);
      await perform(readTask(subject, { endpoint: "income" }, 1));
      expect(calls()).toHaveLength(1);
      expect(await content()).toMatchObject({ content: text });
    });

    test("that looked while another still called waits, though the claim ends before it comes to claim", async () => {
      await want("income");
      const claim = dataClaims(system.dynamodb, table.name, claimLife, () => noon);
      await claim(subject, { endpoint: "income" }, 1, noon);
      let reads = 0;
      const working = system.intercept(async ({ action }, moment) => {
        if (action === "dynamodb:GetItem" && moment === "after") reads += 1;
        // The first read is the breaker's, the second looks at the data set.
        if (reads === 2) clock = new Date(noon.getTime() + claimLife * 1000);
        return undefined;
      });
      await perform(readTask(subject, { endpoint: "income" }, 1));
      working();
      expect(calls()).toEqual([]);
      expect(codes()).toEqual(["TASK_POSTPONED"]);
    });

    test("that is wanted for newer data too calls for that at once", async () => {
      await want("income");
      remote.answer = async (_, count) => {
        if (count > 1) return { text };
        await known.dataSet(subject, { endpoint: "income" }, (dataSet) =>
          wantFor(dataSet, subject, { endpoint: "income" }, { mark: "newer" }),
        );
        await perform(readTask(subject, { endpoint: "income" }, 2));
        return { json: "older" };
      };
      await perform(readTask(subject, { endpoint: "income" }, 1));
      expect(calls()).toHaveLength(2);
      expect(await content()).toMatchObject({ content: text, done: 2 });
    });

    test("that failed gives its claim back: the next attempt need not wait", async () => {
      await want("income");
      for (const answer of [503, { text: "<html>" }, { text }] as const) {
        remote.answer = () => answer;
        await perform(readTask(subject, { endpoint: "income" }, 1));
      }
      expect(calls()).toHaveLength(3);
      expect(await content()).toMatchObject({ content: text });
    });

    test("of unchanged data announces nothing, and is done", async () => {
      const { digest } = contentOf(text);
      await want("income", { content: digest });
      remote.answer = () => ({ text });
      await perform(readTask(subject, { endpoint: "income" }, 1));
      expect(await known.loadDataSet(subject, { endpoint: "income" })).toMatchObject({
        done: 1,
        content: digest,
        latest: { cause: "again" },
      });
    });

    test("stores data even where its digest is known, for a slower fetch may have left older data", async () => {
      await want("income", { content: contentOf(text).digest });
      remote.answer = () => ({ text });
      await perform(readTask(subject, { endpoint: "income" }, 1));
      expect(await content()).toMatchObject({ content: text, done: 1 });
    });

    test.each([404, 410])("answered with %i notes that the provider has none any more", async (status) => {
      await want("income", { content: "old" });
      remote.answer = () => status;
      expect(await perform(readTask(subject, { endpoint: "income" }, 1))).toEqual([]);
      expect(await content()).toMatchObject({ done: 1 });
      expect(await content()).not.toHaveProperty("content");
      const dataSet = await known.loadDataSet(subject, { endpoint: "income" });
      expect(dataSet).toMatchObject({ done: 1, latest: { cause: "answer" } });
      expect(dataSet).not.toHaveProperty("content");
    });

    test("that was wanted again during the call is done up to what was noted before it", async () => {
      await want("income");
      remote.answer = async (_, count) => {
        if (count > 1) return { text };
        await known.dataSet(
          subject,
          { endpoint: "income" },
          (dataSet) => dataSet && { ...dataSet, version: 2, wanted: 2 },
        );
        return { text };
      };
      await perform(readTask(subject, { endpoint: "income" }, 1));
      expect(await known.loadDataSet(subject, { endpoint: "income" })).toMatchObject({
        wanted: 2,
        done: 1,
        version: 3,
      });
      expect(await perform(readTask(subject, { endpoint: "income" }, 2))).toEqual([]);
      expect(await known.loadDataSet(subject, { endpoint: "income" })).toMatchObject({ wanted: 2, done: 2 });
    });

    test("by two at once, whatever claims do, of which the slower one stores older data last, is set right by the newer data's own event", async () => {
      await want("income");
      const newerIsStored = Promise.withResolvers<void>();
      const olderIsStored = Promise.withResolvers<void>();
      remote.answer = async (_, count) => {
        if (count > 1) return { json: "newer" };
        await newerIsStored.promise;
        return { json: "older" };
      };
      let puts = 0;
      // Of four writes: newer data, older data, newer data noted, older data not noted.
      const working = system.intercept(async ({ action }, moment) => {
        if (action !== "dynamodb:PutItem") return undefined;
        if (moment === "before") {
          puts += 1;
          if (puts === 2) await olderIsStored.promise;
        } else if (puts === 1) newerIsStored.resolve();
        else olderIsStored.resolve();
        return undefined;
      });
      const task = writeTask(readTask(subject, { endpoint: "income" }, 1));
      await Promise.all([system.send(queueUrl, task), system.send(queueUrl, task)]);
      const unclaimed = fetcherOf(provider, { claimData: async () => async () => undefined });
      expect(await deliver(system, queueUrl, unclaimed)).toEqual([]);
      working();
      expect(await content()).toMatchObject({ content: '"older"' });
      expect(await known.loadDataSet(subject, { endpoint: "income" })).toMatchObject({
        content: contentOf('"newer"').digest,
      });
      // The newer data had its event, which wants it read once more: then it is stored, though it was noted before.
      await known.dataSet(
        subject,
        { endpoint: "income" },
        (dataSet) => dataSet && { ...dataSet, version: 3, wanted: 2 },
      );
      await perform(readTask(subject, { endpoint: "income" }, 2));
      expect(await content()).toMatchObject({ content: '"newer"', done: 2 });
    });

    test("whose data could not be stored is not done", async () => {
      await want("income");
      remote.answer = () => ({ text });
      const working = system.fail("dynamodb:PutItem");
      await perform(readTask(subject, { endpoint: "income" }, 1));
      working();
      expect(codes()).toEqual(["TASK_POSTPONED"]);
      expect(await known.loadDataSet(subject, { endpoint: "income" })).toMatchObject({ done: 0 });
    });

    test.each<[string, { status?: number; text: string; headers?: Record<string, string> }]>([
      ["a page", { text: "<html>maintenance</html>", headers: { "content-type": "text/html" } }],
      ["JSON that breaks off", { text: '{"amount":' }],
      ["nothing", { text: "" }],
      ["nothing, with 204", { status: 204, text: "" }],
    ])(
      "answered with %s goes to the dead-letter queue with its reason, and stores nothing",
      async (_, answer) => {
        await want("income");
        remote.answer = () => answer;
        const task = readTask(subject, { endpoint: "income" }, 1);
        expect(await perform(task)).toEqual([]);
        expect(await deadLetters()).toEqual([
          { body: writeTask(task), reason: "the provider's answer is not JSON" },
        ]);
        expect(await content()).toBeUndefined();
        expect(await known.loadDataSet(subject, { endpoint: "income" })).toMatchObject({ done: 0 });
      },
    );

    test.each(["null", "[]", '"text"', "0"])("takes any JSON for data: %s", async (json) => {
      await want("income");
      remote.answer = () => ({ text: json });
      await perform(readTask(subject, { endpoint: "income" }, 1));
      expect(await content()).toMatchObject({ content: json });
    });
  });

  describe("asking for a state", () => {
    test.each<[string, unknown, Partial<State>]>([
      ["connected", { id: "x", connected: true }, { connected: true, deleted: false }],
      ["disconnected", { connected: false }, { connected: false, deleted: false }],
      ["connected, under data", { data: { connected: true } }, { connected: true, deleted: false }],
    ])("writes that it is %s, and confirms it", async (_, json, facts) => {
      await put({ version: 3, connected: false });
      remote.answer = () => ({ json });
      expect(await perform(askTask(subject, 3))).toEqual([]);
      expect(calls()).toEqual([`GET /accounts/${subject.id}`]);
      expect(await known.loadState(subject)).toMatchObject({
        version: 4,
        unconfirmed: false,
        latest: { cause: "answer", at: noon.toISOString() },
        ...facts,
      });
    });

    test("answered without connected is given up with its reason, and the state stays unconfirmed", async () => {
      await put({ version: 3 });
      remote.answer = () => ({ json: { id: "x" } });
      expect(await perform(askTask(subject, 3))).toEqual([]);
      expect(await deadLetters()).toMatchObject([{ reason: expect.stringContaining("no connected") }]);
      expect(await known.loadState(subject)).toMatchObject({ unconfirmed: true, version: 3 });
    });

    test.each([404, 410])(
      "answered with %i asks again later where no event told a deletion",
      async (status) => {
        await put({ connected: true });
        remote.answer = () => status;
        await perform(askTask(subject, 1));
        expect(codes()).toEqual(["TASK_POSTPONED"]);
        expect(await known.loadState(subject)).toMatchObject({
          deleted: false,
          unconfirmed: true,
          version: 1,
        });
      },
    );

    test.each([404, 410])("answered with %i writes that it is deleted, as an event told", async (status) => {
      await put({ connected: true, deletionTold: true });
      remote.answer = () => status;
      await perform(askTask(subject, 1));
      expect(await known.loadState(subject)).toMatchObject({ deleted: true, unconfirmed: false, version: 2 });
    });

    test.each([
      ["user", "/users/"],
      ["company-account", "/company/"],
    ] as const)("of a %s calls its own path", async (kind, path) => {
      subject = { kind, id: randomUUID() };
      await put();
      remote.answer = () => ({ json: {} });
      await perform(askTask(subject, 1));
      expect(calls()).toEqual([`GET ${path}${subject.id}`]);
    });

    test("of a user without a path in the settings is void, and the state stays unconfirmed", async () => {
      subject = { kind: "user", id: randomUUID() };
      await put();
      const { user: _, ...paths } = provider.paths;
      expect(await perform(askTask(subject, 1), { ...provider, paths })).toEqual([]);
      expect(calls()).toEqual([]);
      expect(await known.loadState(subject)).toMatchObject({ unconfirmed: true, version: 1 });
    });

    test("for a version that the state has left behind is void", async () => {
      await put({ version: 2 });
      expect(await perform(askTask(subject, 1))).toEqual([]);
      expect(calls()).toEqual([]);
      expect(codes()).toEqual(["TASK_VOID"]);
    });

    test("writes no answer where the state has moved on during the call", async () => {
      await put({ connected: true });
      remote.answer = async () => {
        await known.state(subject, (state) => state && { ...state, version: 2, connected: false });
        return { json: { connected: true } };
      };
      expect(await perform(askTask(subject, 1))).toEqual([]);
      expect(await known.loadState(subject)).toMatchObject({
        version: 2,
        connected: false,
        unconfirmed: true,
      });
    });

    describe("by two tasks, of which the first that asked is answered last,", () => {
      /** The provider says that it is not connected, and then that it is: the older answer arrives last. */
      async function answerInOppositeOrder(later: Task, between: () => Promise<void>): Promise<void> {
        const firstAsked = Promise.withResolvers<void>();
        const secondIsWritten = Promise.withResolvers<void>();
        remote.answer = async () => {
          if (remote.requests.length > 1) return { json: { connected: true } };
          firstAsked.resolve();
          await secondIsWritten.promise;
          return { json: { connected: false } };
        };
        await system.send(queueUrl, writeTask(askTask(subject, 1)));
        const patiently = {
          ...provider,
          timeouts: { connectSeconds: 60, headersSeconds: 60, bodySeconds: 60 },
        };
        const first = deliver(system, queueUrl, fetcherOf(patiently), { firstReceivedAt: noon });
        await firstAsked.promise;
        await between();
        expect(await perform(later)).toEqual([]);
        expect(await known.loadState(subject)).toMatchObject({ connected: true, unconfirmed: false });
        secondIsWritten.resolve();
        expect(await first).toEqual([]);
      }

      test("keeps the later answer where an event came between them", async () => {
        await put({ connected: true });
        await answerInOppositeOrder(askTask(subject, 2), async () => {
          await known.state(subject, (state) => state && { ...state, version: 2 });
        });
        expect(await known.loadState(subject)).toMatchObject({
          version: 3,
          connected: true,
          unconfirmed: false,
        });
      });

      test("keeps the later answer where both are of one task, which SQS delivered twice", async () => {
        await put({ connected: true });
        await answerInOppositeOrder(askTask(subject, 1), async () => undefined);
        expect(await known.loadState(subject)).toMatchObject({
          version: 2,
          connected: true,
          unconfirmed: false,
        });
      });
    });

    test.each([
      ["a list", "[]", "the provider's answer: expected an object"],
      ["null", "null", "the provider's answer: expected an object"],
      ["a page", "<html>", "the provider's answer is not JSON"],
    ])("answered with %s goes to the dead-letter queue, and confirms nothing", async (_, text, reason) => {
      await put();
      remote.answer = () => ({ text });
      await perform(askTask(subject, 1));
      expect(await deadLetters()).toMatchObject([{ reason }]);
      expect(await known.loadState(subject)).toMatchObject({ unconfirmed: true, version: 1 });
    });
  });

  describe("a call that may be made again", () => {
    beforeEach(() => want("income"));
    const hoursAgo = (hours: number) => new Date(noon.getTime() - hours * 3_600_000);
    const read = (attempts = 0, since?: Date): Task => ({
      ...readTask(subject, { endpoint: "income" }, 1),
      attempts,
      ...(since && { since: since.toISOString() }),
    });

    test("after a long wait is sent again, its attempts counted, with the time since when it fails", async () => {
      remote.answer = () => 503;
      expect(await postponed(read())).toEqual([{ task: read(1, noon), delay: 100 }]);
      expect(await system.receive(queueUrl)).toEqual([]);
      expect(entries).toMatchObject([{ reason: "the provider answered 503", attempts: 1 }]);
      expect(await deadLetters()).toEqual([]);
    });

    test("waits longer each time, at random, and fails since the first time", async () => {
      remote.answer = () => 503;
      const since = hoursAgo(1);
      expect(await postponed(read(1, since))).toEqual([{ task: read(2, since), delay: 200 }]);
    });

    test.each([
      ["120", 120 + 100],
      ["Sat, 21 Nov 2026 12:02:30 GMT", 120 + 100],
      ["100000", 900],
    ])("waits longer than Retry-After says (%s), and no longer than SQS allows", async (value, delay) => {
      remote.answer = () => ({ status: 429, headers: { "retry-after": value }, text: "" });
      expect(await postponed(read())).toMatchObject([{ delay }]);
    });

    test("after a short wait stays in its queue, hidden for so long", async () => {
      retrying = { ...retrying, retry: { baseSeconds: 10, maxSeconds: 900 } };
      remote.answer = () => 503;
      expect(await perform(read())).toEqual([writeTask(read())]);
      expect(sent).toEqual([]);
      expect(entries).toMatchObject([{ code: "TASK_POSTPONED", delayInSeconds: 5 }]);
      expect(await hiddenUntilNow()).toBe(1);
    });

    test("in a batch of ten is settled with one request for all that wait long, one for all that wait short", async () => {
      const endpoints = Array.from({ length: 10 }, (_, index) => `e${index}`);
      await Promise.all(endpoints.map((endpoint) => want(endpoint)));
      await Promise.all(
        endpoints.map((endpoint) => system.send(queueUrl, writeTask(readTask(subject, { endpoint }, 1)))),
      );
      remote.answer = ({ path }) =>
        Number(path.at(-1)) < 5 ? 503 : { status: 429, headers: { "retry-after": "700" }, text: "" };
      retrying = { ...retrying, retry: { baseSeconds: 10, maxSeconds: 900 } };
      const before = requests();
      const kept = await deliver(system, queueUrl, fetcherOf(), { firstReceivedAt: noon });
      expect(kept).toHaveLength(5);
      expect(sent).toHaveLength(5);
      expect(requests()).toEqual({ sent: before.sent + 1, hidden: before.hidden + 1 });
    });

    test("is given up into the dead-letter queue after the longest outage, with the reason", async () => {
      remote.answer = () => 503;
      expect(await perform(read(70, hoursAgo(72)))).toEqual([]);
      const [letter, ...others] = await deadLetters();
      expect(others).toEqual([]);
      expect(letter?.reason).toBe(
        "the provider answered 503; given up after 72 hours, see fetch.longestOutageHours",
      );
      // Redriven, it begins anew.
      expect(readTaskText(letter?.body ?? "")).toEqual(read());
      expect(codes()).toEqual(["MESSAGE_REJECTED"]);
      expect(await known.loadDataSet(subject, { endpoint: "income" })).toMatchObject({ done: 0 });
    });

    test("says how often it was redriven wherever it goes: sent again, and into the dead-letter queue", async () => {
      remote.answer = () => 503;
      const redriven = (task: Task) =>
        sqsSender(system.sqs)(queueUrl, [{ body: writeTask(task), returns: "1 run" }]);
      await redriven(read(1));
      await deliver(system, queueUrl, fetcherOf(), { firstReceivedAt: noon, receives: 5 });
      expect(sent).toMatchObject([{ returns: "1 run" }]);
      await redriven(read(70, hoursAgo(72)));
      await deliver(system, queueUrl, fetcherOf(), { firstReceivedAt: noon });
      const [letter] = await system.drain(deadLetterQueueUrl);
      expect(letter?.MessageAttributes?.returns?.StringValue).toBe("1 run");
    });

    test("is not given up before, however often it was tried", async () => {
      remote.answer = () => 503;
      expect(await postponed(read(9_999, hoursAgo(71.9)))).toMatchObject([{ delay: 450 }]);
      expect(await deadLetters()).toEqual([]);
    });

    test("does its work when the provider is back", async () => {
      remote.answer = () => 503;
      await perform(read());
      remote.answer = () => ({ json: [1] });
      expect(await perform(read(1))).toEqual([]);
      expect(await content()).toMatchObject({ content: "[1]" });
    });

    test("stays in its queue while neither queue can be written to", async () => {
      remote.answer = () => 503;
      const working = system.fail("sqs:SendMessageBatch");
      for (const task of [read(), read(2, hoursAgo(100))]) {
        expect(await perform(task)).toEqual([writeTask(task)]);
        expect(codes()).toEqual(["MESSAGE_FAILED"]);
      }
      working();
      expect(await deadLetters()).toEqual([]);
    });

    test("does not hold up the other tasks of its batch", async () => {
      await want("profile");
      await system.send(queueUrl, writeTask(readTask(subject, { endpoint: "profile" }, 1)));
      remote.answer = ({ path }) => (path.endsWith("/profile") ? { json: {} } : 503);
      expect(await perform(read())).toEqual([]);
      expect(codes().toSorted()).toEqual(["TASK_DONE", "TASK_POSTPONED"]);
      expect(await content("profile")).toMatchObject({ content: "{}" });
    });
  });

  test.each([400, 403])("a task that the provider answers with %i is given up at once", async (status) => {
    await want("income");
    remote.answer = () => status;
    await perform(readTask(subject, { endpoint: "income" }, 1));
    expect(await deadLetters()).toMatchObject([{ reason: `the provider answered ${status}` }]);
  });

  test.each([400, 403])("a start or an ask that is answered with %i is given up at once", async (status) => {
    await put();
    remote.answer = () => status;
    for (const task of [startTask(subject, 1), askTask(subject, 1)]) {
      await perform(task, started);
      expect(await deadLetters()).toMatchObject([{ reason: `the provider answered ${status}` }]);
    }
    expect(calls()).toHaveLength(2);
  });

  test.each([
    ["no JSON", "hello", "the task is not JSON"],
    ["no version", '{"schemaVersion":0}', "schemaVersion: expected a whole number from 1 on"],
    [
      "no task",
      '{"schemaVersion":1,"attempts":0,"subject":{"kind":"user","id":"u"},"task":"x"}',
      "task: expected start, read, ask or check",
    ],
    ["nobody", '{"schemaVersion":1,"attempts":0,"task":"ask","version":1}', "subject: expected an object"],
  ])("a message that is %s goes to the dead-letter queue with its reason", async (_, message, reason) => {
    expect(await perform(message)).toEqual([]);
    expect(await deadLetters()).toEqual([{ body: message, reason }]);
  });

  test("a task of a later release stays in the queue as it is, beside others that are done", async () => {
    await want("income");
    remote.answer = () => ({ json: {} });
    const later = JSON.stringify({ ...readTask(subject, { endpoint: "income" }, 1), schemaVersion: 3 });
    await system.send(queueUrl, later);
    const left = await perform(readTask(subject, { endpoint: "income" }, 1));
    expect(left).toEqual([later]);
    expect(entries).toMatchObject([
      { code: "TASK_DONE" },
      { code: "TASK_POSTPONED", delayInSeconds: 60, reason: expect.stringContaining("later release") },
    ]);
    expect(await deadLetters()).toEqual([]);
  });

  describe("the token", () => {
    beforeEach(() => want("income"));

    test("that is missing makes tasks wait, and calls nobody", async () => {
      token = system.createSecret({ placeholder: "x" });
      expect(await postponed(readTask(subject, { endpoint: "income" }, 1))).toMatchObject([{ delay: 90 }]);
      expect(calls()).toEqual([]);
      expect(entries).toMatchObject([{ reason: "no token is set" }]);
    });

    test("that is refused twice makes tasks wait", async () => {
      remote.answer = () => 401;
      expect(await postponed(readTask(subject, { endpoint: "income" }, 1))).toMatchObject([{ delay: 90 }]);
      expect(calls()).toHaveLength(2);
      expect(entries).toMatchObject([{ reason: "the token was refused" }]);
    });

    test("that is revoked in the middle of a batch makes the rest wait, and one refresh is asked for", async () => {
      const endpoints = Array.from({ length: 10 }, (_, index) => `endpoint-${index}`);
      for (const endpoint of endpoints) await want(endpoint);
      const [first = "", ...others] = endpoints;
      for (const endpoint of others)
        await system.send(queueUrl, writeTask(readTask(subject, { endpoint }, 1)));
      remote.answer = (_, count) => (count <= 5 ? { json: {} } : 401);
      expect(await perform(readTask(subject, { endpoint: first }, 1))).toEqual([]);
      const done = entries.filter(({ code }) => code === "TASK_DONE");
      expect(done.length).toBeGreaterThan(0);
      expect(sent).toHaveLength(10 - done.length);
      expect(sent.every(({ delayInSeconds = 0 }) => delayInSeconds >= 60)).toBe(true);
      expect(refreshesAsked).toBe(1);

      // An operator's new token heals it: the tasks go on by themselves.
      system.secrets.call("PutSecretValue", { SecretId: token, SecretString: '{"token":"set by hand"}' });
      remote.answer = ({ headers }) => (headers.authorization === "Bearer set by hand" ? { json: {} } : 401);
      for (const { body } of [...sent]) {
        await perform(readTaskText(body));
        expect(entries).toMatchObject([{ code: "TASK_DONE" }]);
      }
      expect(await deadLetters()).toEqual([]);
    });

    test("that was replaced in the middle of a batch is read again: every task is done", async () => {
      const endpoints = Array.from({ length: 5 }, (_, index) => `endpoint-${index}`);
      for (const endpoint of endpoints) await want(endpoint);
      const [first = "", ...others] = endpoints;
      for (const endpoint of others)
        await system.send(queueUrl, writeTask(readTask(subject, { endpoint }, 1)));
      remote.answer = ({ headers }, count) => {
        if (count === 3) {
          system.secrets.call("PutSecretValue", { SecretId: token, SecretString: '{"token":"next"}' });
        }
        return count < 3 || headers.authorization === "Bearer next" ? { json: {} } : 401;
      };
      await perform(readTask(subject, { endpoint: first }, 1));
      expect(entries.map(({ code }) => code)).toEqual(endpoints.map(() => "TASK_DONE"));
      expect(refreshesAsked).toBe(0);
    });

    test("that is neither set nor accepted for long gives no task up: waiting is no attempt", async () => {
      token = system.createSecret({ placeholder: "x" });
      const task: Task = { ...readTask(subject, { endpoint: "income" }, 1), attempts: 3 };
      const failing: Task = { ...task, since: "2026-01-01T00:00:00.000Z" };
      await perform(failing);
      remote.answer = () => 401;
      token = system.createSecret({ token: "jwt" });
      await perform(failing);
      expect(await deadLetters()).toEqual([]);
      // An outage ends where something else is waited for.
      expect(sent.map(({ body }) => readTaskText(body))).toEqual([task, task]);
    });

    test("neither it nor what was read shows in the log", async () => {
      remote.answer = () => ({ json: { personal: "canary" } });
      await perform(readTask(subject, { endpoint: "income" }, 1, "the-event"));
      expect(JSON.stringify(entries)).not.toMatch(/canary|jwt/);
      const line = { code: "TASK_DONE", task: "read", subject: `account/${subject.id}` };
      expect(entries).toEqual([{ ...line, correlationId: "the-event" }]);
      const { latest } = (await known.loadDataSet(subject, { endpoint: "income" })) ?? {};
      expect(latest).toMatchObject({ cause: "answer", correlationId: "the-event" });
    });
  });

  test("while the provider is down a task costs no read, no claim and no call", async () => {
    const nervous = { ...provider, breaker: { failures: 1, baseSeconds: 100, maxSeconds: 300 } };
    await want("income");
    await want("profile");
    remote.answer = () => 503;
    const fetch = fetcherOf(nervous);
    await system.send(queueUrl, writeTask(readTask(subject, { endpoint: "income" }, 1)));
    await deliver(system, queueUrl, fetch, { firstReceivedAt: noon });
    const counted = () =>
      ["GetItem", "UpdateItem", "PutItem"].map((name) => system.calls().get(`test dynamodb:${name}`));
    const before = counted();
    await system.send(queueUrl, writeTask(readTask(subject, { endpoint: "profile" }, 1)));
    await deliver(system, queueUrl, fetch, { firstReceivedAt: noon });
    expect(counted()).toEqual(before);
    expect(calls()).toHaveLength(1);
    expect(entries.at(-1)).toMatchObject({
      code: "TASK_POSTPONED",
      reason: "the provider is down",
      attempts: 0,
    });
    expect(await deadLetters()).toEqual([]);
  });

  test("more tasks than the rate allows wait for the next window, which is no attempt", async () => {
    // A rate of five a minute is cut into three windows of one call.
    const slow = { ...provider, requestsPerMinute: 5 };
    const endpoints = ["a", "b", "c", "d"];
    for (const endpoint of endpoints) await want(endpoint);
    remote.answer = () => ({ json: {} });
    for (const endpoint of endpoints) {
      await system.send(queueUrl, writeTask({ ...readTask(subject, { endpoint }, 1), attempts: 2 }));
    }
    const kept = await deliver(system, queueUrl, fetcherOf(slow), { firstReceivedAt: noon });
    expect(calls()).toHaveLength(1);
    expect(kept.map(readTaskText)).toMatchObject([{ attempts: 2 }, { attempts: 2 }, { attempts: 2 }]);
    expect(entries.filter(({ code }) => code === "TASK_POSTPONED")).toEqual(
      Array.from({ length: 3 }, () =>
        expect.objectContaining({ reason: "the provider's rate is used up", delayInSeconds: 40 }),
      ),
    );
    expect(await deadLetters()).toEqual([]);
  });
});

async function reach(version: number, write: (version: number) => Promise<void>): Promise<void> {
  for (let next = 1; next <= version; next += 1) await write(next);
}
