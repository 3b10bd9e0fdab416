import { randomUUID } from "node:crypto";
import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { failStatements } from "@income-events/local-stack/gateway/tables/statement-faults.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { linkTable } from "../../../adapters/dynamodb/links.ts";
import { sharedWrites } from "../../../adapters/dynamodb/shared-writes.ts";
import { type VersionedRecords, versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { type DocumentRecord, requestFetchFor } from "../../../domain/fetch/document.ts";
import type { DataName } from "../../../domain/fetch/document-name.ts";
import type { State } from "../../../domain/state/state.ts";
import {
  describeOnEachTable,
  startTestSystem,
  type TestSystem,
  type TestTable,
} from "../../support/engines.ts";

function stateOf(subject: Subject, version: number, facts: Partial<State> = {}): State {
  return {
    subject,
    version,
    deleted: false,
    unconfirmed: false,
    judged: [],
    latest: { cause: "again" },
    ...facts,
  };
}

await describeOnEachTable("revisions", (tables) => {
  let system: TestSystem;
  let table: TestTable;
  let known: VersionedRecords;
  let subject: Subject;

  beforeAll(async () => {
    system = await startTestSystem(tables);
    table = await system.createTable();
    known = versionedRecords(system.dynamodb, table.name);
  });
  afterAll(() => system.close());
  beforeEach(() => {
    subject = { kind: "account", id: randomUUID() };
  });

  const next = (state: State | undefined) => stateOf(subject, (state?.version ?? 0) + 1);

  test("a state that nothing is known of is none, and its first version is stored as it is", async () => {
    expect(await known.loadState(subject)).toBeUndefined();
    const first = stateOf(subject, 1, { connected: true, userId: "u", asOf: "2026-11-21T10:00:00.000Z" });
    await known.state(subject, (before) => {
      expect(before).toBeUndefined();
      return first;
    });
    expect(await known.loadState(subject)).toEqual(first);
    expect(await table.item(`ACCOUNT#${subject.id}`, "STATE")).toEqual({
      pk: `ACCOUNT#${subject.id}`,
      sk: "STATE",
      schemaVersion: 1,
      state: first,
    });
  });

  test("a document's version is kept beside those of other endpoints", async () => {
    const documentOf = (endpoint: string): DocumentRecord => ({
      subject,
      endpoint,
      version: 1,
      wanted: 2,
      done: 1,
      content: "digest",
      judged: ["mark.1"],
      latest: { cause: "answer", at: "2026-11-21T10:00:00.000Z" },
    });
    for (const endpoint of ["income", "profile"])
      await known.document(subject, { endpoint }, () => documentOf(endpoint));
    expect(await known.loadDocument(subject, { endpoint: "income" })).toEqual(documentOf("income"));
    expect(await known.loadDocument(subject, { endpoint: "profile" })).toEqual(documentOf("profile"));
    expect(await known.loadDocument(subject, { endpoint: "trips" })).toBeUndefined();
  });

  test("all documents of a subject are found, ranges and further pages too, and no one else's", async () => {
    // Three of these are more than a page of a query holds.
    const judged = ["x".repeat(380_000)];
    const range = { start: "2026-01-01", end: "2026-01-31" };
    const names: DataName[] = [
      { endpoint: "income" },
      { endpoint: "income", range },
      { endpoint: "profile" },
    ];
    for (const name of names) {
      await known.document(subject, name, (before) => {
        const requested = requestFetchFor(before, subject, name, { key: "test" });
        return requested && { ...requested, judged };
      });
    }
    await known.state(subject, next);
    const stranger: Subject = { kind: "account", id: `${subject.id}#` };
    await known.document(stranger, { endpoint: "income" }, (before) =>
      requestFetchFor(before, stranger, { endpoint: "income" }, { key: "test" }),
    );
    const found = await known.loadDocuments(subject);
    expect(
      found.map(({ endpoint, range: of }) => (of === undefined ? { endpoint } : { endpoint, range: of })),
    ).toEqual(names);
    expect(await known.loadDocuments({ kind: "account", id: "nobody" })).toEqual([]);
  });

  test("a change to nothing writes nothing", async () => {
    const before = system.calls().get("test dynamodb:BatchExecuteStatement") ?? 0;
    await known.state(subject, () => undefined);
    expect(system.calls().get("test dynamodb:BatchExecuteStatement") ?? 0).toBe(before);
    expect(await known.loadState(subject)).toBeUndefined();
  });

  test("loses none of twenty concurrent writers: each is written, or asked to retry", async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, writer) =>
        known.state(subject, (state) => ({
          ...next(state),
          judged: [...(state?.judged ?? []), `writer.${writer}`],
        })),
      ),
    );
    const written = outcomes.flatMap(({ status }, writer) =>
      status === "fulfilled" ? [`writer.${writer}`] : [],
    );
    const state = await known.loadState(subject);
    expect(state?.judged.toSorted()).toEqual(written.toSorted());
    expect(state?.version).toBe(written.length);
    expect(written.length).toBeGreaterThanOrEqual(8);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected")
        expect(outcome.reason).toMatchObject({ failure: { kind: "retryable" } });
    }
  });

  test("a writer who loses each time is asked to retry after a while", async () => {
    let tries = 0;
    const losing = system.intercept(async ({ action, body }, phase) => {
      if (action !== "dynamodb:BatchExecuteStatement" || phase !== "before") return undefined;
      tries += 1;
      const error = { code: "ConditionalCheckFailed", message: "another was faster" } as const;
      return failStatements(body, new Map([[0, error]]));
    });
    await expect(known.state(subject, next)).rejects.toMatchObject({
      failure: { kind: "retryable", reason: "record contended", delayInSeconds: 1 },
    });
    losing();
    expect(tries).toBe(8);
  });

  test("a state that was deleted meanwhile is not brought back with what was known of it", async () => {
    await known.state(subject, (state) => ({ ...next(state), connected: true }));
    const seen: (number | undefined)[] = [];
    let gone = false;
    const working = system.intercept(async ({ action }, phase) => {
      if (action !== "dynamodb:BatchExecuteStatement" || phase !== "before" || gone) return undefined;
      gone = true;
      const Key = marshall({ pk: `ACCOUNT#${subject.id}`, sk: "STATE" });
      await system.dynamodb.send(new DeleteItemCommand({ TableName: table.name, Key }));
      return undefined;
    });
    await known.state(subject, (state) => {
      seen.push(state?.version);
      return state && { ...state, version: state.version + 1 };
    });
    working();
    expect(seen).toEqual([1, undefined]);
    expect(await known.loadState(subject)).toBeUndefined();
  });

  test("a first version never overwrites one that came meanwhile", async () => {
    const seen: (number | undefined)[] = [];
    let hasCome = false;
    const working = system.intercept(async ({ action }, phase) => {
      if (action !== "dynamodb:BatchExecuteStatement" || phase !== "before" || hasCome) return undefined;
      hasCome = true;
      await known.state(subject, () => stateOf(subject, 1, { connected: true }));
      return undefined;
    });
    await known.state(subject, (state) => {
      seen.push(state?.version);
      return { ...stateOf(subject, 1), ...state, version: (state?.version ?? 0) + 1, userId: "u" };
    });
    working();
    expect(seen).toEqual([undefined, 1]);
    expect(await known.loadState(subject)).toMatchObject({ version: 2, connected: true, userId: "u" });
  });

  describe("records that are read ahead", () => {
    const name = { endpoint: "income" };
    const reads = () => system.calls().get("test dynamodb:BatchGetItem") ?? 0;
    const raised = (before: DocumentRecord | undefined) =>
      requestFetchFor(before, subject, name, { key: `${before?.version ?? 0}` });

    test("cost one request, however many they are and however often each is updated", async () => {
      await known.document(subject, name, raised);
      const before = reads();
      const revise = await known.readAhead([{ subject }, { subject }, { subject, name }]);
      for (let time = 1; time <= 3; time += 1) {
        await revise.state(subject, next);
        await revise.document(subject, name, raised);
      }
      expect(reads() - before).toBe(1);
      expect(await known.loadState(subject)).toMatchObject({ version: 3 });
      expect(await known.loadDocument(subject, name)).toMatchObject({ version: 4, wanted: 4 });
    });

    test("are read again where another was faster, and no update is lost", async () => {
      const revise = await known.readAhead([{ subject }]);
      await known.state(subject, () => stateOf(subject, 1, { userId: "u" }));
      const seen: (number | undefined)[] = [];
      await revise.state(subject, (state) => {
        seen.push(state?.version);
        return { ...stateOf(subject, 1), ...state, version: (state?.version ?? 0) + 1 };
      });
      expect(seen).toEqual([undefined, 1]);
      expect(await known.loadState(subject)).toMatchObject({ version: 2, userId: "u" });
    });

    test("are read in their turn where they could not be", async () => {
      await known.state(subject, next);
      const end = system.fail("dynamodb:BatchGetItem");
      const revise = await known.readAhead([{ subject }]);
      await expect(revise.state(subject, next)).rejects.toThrow("injected by the test");
      end();
      await revise.state(subject, next);
      expect(await known.loadState(subject)).toMatchObject({ version: 2 });
    });
  });

  test("an update of what is known already reads nothing, unless another was faster", async () => {
    const reads = () => system.calls().get("test dynamodb:BatchGetItem") ?? 0;
    await known.state(subject, next);
    const first = await known.loadState(subject);
    const before = reads();
    await known.state(subject, next, first);
    expect(reads()).toBe(before);
    await known.state(subject, next, first);
    expect(reads()).toBe(before + 1);
    expect(await known.loadState(subject)).toMatchObject({ version: 3 });
  });

  test("those who read at the same time share a request, and each gets its own", async () => {
    const subjects = Array.from({ length: 120 }, () => ({ kind: "account", id: randomUUID() }) as const);
    await Promise.all(subjects.slice(1).map((each) => known.state(each, () => stateOf(each, 1))));
    const before = system.calls().get("test dynamodb:BatchGetItem") ?? 0;
    const states = await Promise.all(subjects.map((each) => known.loadState(each)));
    expect(states.map((state) => state?.subject)).toEqual([undefined, ...subjects.slice(1)]);
    // DynamoDB takes a hundred keys at once.
    expect(system.calls().get("test dynamodb:BatchGetItem")).toBe(before + 2);
  });

  test("an item that no release of ours wrote is a failure that names the field, not a state", async () => {
    await known.state(subject, () => ({ ...stateOf(subject, 1), subject: { ...subject, id: "" } }));
    await expect(known.loadState(subject)).rejects.toMatchObject({
      failure: { kind: "permanent", reason: "id: expected a text" },
    });
  });

  test("another failure of the table is thrown as it is, and not tried again", async () => {
    const working = system.fail("dynamodb:BatchExecuteStatement");
    await expect(known.state(subject, next)).rejects.toThrow("injected by the test");
    working();
  });

  test("states and links that are written at the same time share one request", async () => {
    const write = sharedWrites(system.dynamodb, table.name);
    const [records, link] = [versionedRecords(system.dynamodb, table.name, write), linkTable(write)];
    const subjects = Array.from({ length: 20 }, () => ({ kind: "account", id: randomUUID() }) as const);
    const writes = () => system.calls().get("test dynamodb:BatchExecuteStatement") ?? 0;
    const ahead = await records.readAhead(subjects.map((each) => ({ subject: each })));
    const before = writes();
    await Promise.all([
      ...subjects.map((each) => ahead.state(each, () => stateOf(each, 1))),
      link(randomUUID(), randomUUID()),
    ]);
    expect(writes()).toBe(before + 1);
  });

  test("a link joins an account to its user, and may be written again", async () => {
    const link = linkTable(sharedWrites(system.dynamodb, table.name));
    const [userId, accountId] = [randomUUID(), randomUUID()];
    for (let time = 0; time < 2; time += 1) await link(userId, accountId);
    expect(await table.items(`USER#${userId}`)).toEqual([
      { pk: `USER#${userId}`, sk: `ACCOUNT#${accountId}`, schemaVersion: 1 },
    ]);
  });
});
