import { randomUUID } from "node:crypto";
import { DeleteItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { linkTable } from "../../../adapters/dynamodb/event-table.ts";
import { loggedNames } from "../../../adapters/dynamodb/logged-names.ts";
import { type VersionedRecords, versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { loggedName, type Subject } from "../../../domain/event/subjects.ts";
import type { State } from "../../../domain/state/state.ts";
import { describeOnEachTable } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";

function stateOf(subject: Subject, version: number, facts: Partial<State> = {}): State {
  return {
    subject,
    version,
    deleted: false,
    unconfirmed: false,
    processed: [],
    latest: { cause: "again" },
    ...facts,
  };
}

await describeOnEachTable("versioned records", (tables) => {
  const made = systemWithTable(tables);
  let known: VersionedRecords;
  let subject: Subject;
  beforeAll(async () => {
    known = versionedRecords(made.system.dynamodb, made.table.name);
  });
  beforeEach(() => {
    subject = { kind: "account", id: randomUUID() };
  });

  const next = (state: State | undefined) => stateOf(subject, (state?.version ?? 0) + 1);

  test("an unknown subject has no state, and its first version is stored unchanged", async () => {
    expect(await known.loadState(subject)).toBeUndefined();
    const first = stateOf(subject, 1, { connected: true, userId: "u", asOf: "2026-11-21T10:00:00.000Z" });
    await known.reviseState(subject, (before) => {
      expect(before).toBeUndefined();
      return first;
    });
    expect(await known.loadState(subject)).toEqual(first);
    expect(await made.table.item(`ACCOUNT#${subject.id}`, "STATE")).toEqual({
      pk: `ACCOUNT#${subject.id}`,
      sk: "STATE",
      schemaVersion: 1,
      loggedAs: loggedName(subject),
      state: first,
    });
  });

  test("a stored subject is found by its digest in logs and by a part of its id, until its state is deleted", async () => {
    const names = loggedNames(made.system.dynamodb, made.table.name);
    const name = loggedName(subject);
    const part = subject.id.slice(9, 30);
    expect([...(await names.subjectsOf(new Set([name])))]).toEqual([]);
    for (let version = 1; version <= 2; version += 1) {
      await known.reviseState(subject, next);
      expect([...(await names.subjectsOf(new Set([name, "account/unknown"])))]).toEqual([[name, subject]]);
      expect(await names.find(part, 1)).toEqual([subject]);
    }
    const key = marshall({ pk: `ACCOUNT#${subject.id}`, sk: "STATE" });
    await made.system.dynamodb.send(new DeleteItemCommand({ TableName: made.table.name, Key: key }));
    expect([...(await names.subjectsOf(new Set([name])))]).toEqual([]);
    expect(await names.find(part, 1)).toEqual([]);
  });

  test("an empty change writes nothing", async () => {
    const before = made.system.calls().get("test dynamodb:BatchExecuteStatement") ?? 0;
    await known.reviseState(subject, () => undefined);
    expect(made.system.calls().get("test dynamodb:BatchExecuteStatement") ?? 0).toBe(before);
    expect(await known.loadState(subject)).toBeUndefined();
  });

  test("loses no update of twenty concurrent writers: each is written, or retryable", async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, writer) =>
        known.reviseState(subject, (state) => ({
          ...next(state),
          processed: [...(state?.processed ?? []), `writer.${writer}`],
        })),
      ),
    );
    const written = outcomes.flatMap(({ status }, writer) =>
      status === "fulfilled" ? [`writer.${writer}`] : [],
    );
    const state = await known.loadState(subject);
    expect(state?.processed.toSorted()).toEqual(written.toSorted());
    expect(state?.version).toBe(written.length);
    expect(written.length).toBeGreaterThanOrEqual(8);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected")
        expect(outcome.reason).toMatchObject({ failure: { type: "retryable" } });
    }
  });

  test("a writer that loses each time gets a retryable failure", async () => {
    let tries = 0;
    const losing = made.system.intercept(async ({ action }, phase) => {
      if (action !== "dynamodb:BatchExecuteStatement" || phase !== "before") return undefined;
      tries += 1;
      const answer = { Responses: [{ Error: { Code: "ConditionalCheckFailed" } }] };
      return { times: 0, answer: () => JSON.stringify(answer) };
    });
    await expect(known.reviseState(subject, next)).rejects.toMatchObject({
      failure: { type: "retryable", reason: "state contended", delayInSeconds: 1 },
    });
    losing();
    expect(tries).toBe(8);
  });

  test("a state that was deleted meanwhile is not restored from a cached version", async () => {
    await known.reviseState(subject, (state) => ({ ...next(state), connected: true }));
    const seen: (number | undefined)[] = [];
    let gone = false;
    const working = made.system.intercept(async ({ action }, phase) => {
      if (action !== "dynamodb:BatchExecuteStatement" || phase !== "before" || gone) return undefined;
      gone = true;
      const Key = marshall({ pk: `ACCOUNT#${subject.id}`, sk: "STATE" });
      await made.system.dynamodb.send(new DeleteItemCommand({ TableName: made.table.name, Key }));
      return undefined;
    });
    await known.reviseState(subject, (state) => {
      seen.push(state?.version);
      return state && { ...state, version: state.version + 1 };
    });
    working();
    expect(seen).toEqual([1, undefined]);
    expect(await known.loadState(subject)).toBeUndefined();
  });

  test("a first version never overwrites one that was written meanwhile", async () => {
    const seen: (number | undefined)[] = [];
    let hasCome = false;
    const working = made.system.intercept(async ({ action }, phase) => {
      if (action !== "dynamodb:BatchExecuteStatement" || phase !== "before" || hasCome) return undefined;
      hasCome = true;
      await known.reviseState(subject, () => stateOf(subject, 1, { connected: true }));
      return undefined;
    });
    await known.reviseState(subject, (state) => {
      seen.push(state?.version);
      return { ...stateOf(subject, 1), ...state, version: (state?.version ?? 0) + 1, userId: "u" };
    });
    working();
    expect(seen).toEqual([undefined, 1]);
    expect(await known.loadState(subject)).toMatchObject({ version: 2, connected: true, userId: "u" });
  });

  describe("records that are read ahead", () => {
    const reads = () => made.system.calls().get("test dynamodb:BatchGetItem") ?? 0;

    test("cost one request, whatever their number and however often each is updated", async () => {
      const other: Subject = { kind: "account", id: randomUUID() };
      await known.reviseState(other, () => stateOf(other, 1));
      const before = reads();
      const revise = await known.readAhead([subject, subject, other]);
      for (let time = 1; time <= 3; time += 1) {
        await revise(subject, next);
        await revise(other, (state) => stateOf(other, (state?.version ?? 0) + 1));
      }
      expect(reads() - before).toBe(1);
      expect(await known.loadState(subject)).toMatchObject({ version: 3 });
      expect(await known.loadState(other)).toMatchObject({ version: 4 });
    });

    test("are read later if the read ahead fails", async () => {
      await known.reviseState(subject, next);
      const end = made.system.fail("dynamodb:BatchGetItem");
      const revise = await known.readAhead([subject]);
      await expect(revise(subject, next)).rejects.toThrow("injected by the test");
      end();
      await revise(subject, next);
      expect(await known.loadState(subject)).toMatchObject({ version: 2 });
    });
  });

  test("an update of a cached record reads nothing, unless another writer was faster", async () => {
    const reads = () => made.system.calls().get("test dynamodb:BatchGetItem") ?? 0;
    await known.reviseState(subject, next);
    const first = await known.loadState(subject);
    const before = reads();
    await known.reviseState(subject, next, first);
    expect(reads()).toBe(before);
    await known.reviseState(subject, next, first);
    expect(reads()).toBe(before + 1);
    expect(await known.loadState(subject)).toMatchObject({ version: 3 });
  });

  test("concurrent readers share a request, and each gets its own record", async () => {
    const subjects = Array.from({ length: 120 }, () => ({ kind: "account", id: randomUUID() }) as const);
    await Promise.all(subjects.slice(1).map((each) => known.reviseState(each, () => stateOf(each, 1))));
    const before = made.system.calls().get("test dynamodb:BatchGetItem") ?? 0;
    const states = await Promise.all(subjects.map((each) => known.loadState(each)));
    expect(states.map((state) => state?.subject)).toEqual([undefined, ...subjects.slice(1)]);
    // DynamoDB accepts a hundred keys per request.
    expect(made.system.calls().get("test dynamodb:BatchGetItem")).toBe(before + 2);
  });

  test("an item that no release of ours wrote is a failure that names the field, not a state", async () => {
    const key = { pk: `ACCOUNT#${subject.id}`, sk: "STATE" };
    const Item = marshall({ ...key, schemaVersion: 1, state: { subject: { ...subject, id: "" } } });
    await made.system.dynamodb.send(new PutItemCommand({ TableName: made.table.name, Item }));
    await expect(known.loadState(subject)).rejects.toMatchObject({
      failure: { type: "permanent", reason: "id: expected a text" },
    });
  });

  test("a link joins an account to its user, and may be written again", async () => {
    const link = linkTable(batchingWriter(made.system.dynamodb, made.table.name));
    const [userId, accountId] = [randomUUID(), randomUUID()];
    for (let time = 0; time < 2; time += 1) await link(userId, accountId);
    expect(await made.table.items(`USER#${userId}`)).toEqual([
      { pk: `USER#${userId}`, sk: `ACCOUNT#${accountId}`, schemaVersion: 1 },
    ]);
  });
});
