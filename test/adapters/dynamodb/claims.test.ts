import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type ClaimData, dataClaims } from "../../../adapters/dynamodb/claims.ts";
import { failureOf } from "../../../domain/core/failures.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import {
  describeOnEachTable,
  startTestSystem,
  type TestSystem,
  type TestTable,
} from "../../support/engines.ts";

const noon = new Date("2026-11-21T12:00:00Z");
const after = (seconds: number) => new Date(noon.getTime() + seconds * 1000);
const income = { endpoint: "income" };

await describeOnEachTable("a claim on a data set", (tables) => {
  let system: TestSystem;
  let table: TestTable;
  let subject: Subject;
  let clock: Date;
  let claim: ClaimData;

  beforeAll(async () => {
    system = await startTestSystem(tables);
    table = await system.createTable();
  });
  afterAll(() => system.close());
  beforeEach(() => {
    subject = { kind: "account", id: randomUUID() };
    clock = noon;
    claim = dataClaims(system.dynamodb, table.name, 60, () => clock);
  });

  /** How long a claim has to wait; 0 where it is given. */
  const waitOf = (noted: number, lookedAt = clock, name = income) =>
    claim(subject, name, noted, lookedAt).then(
      () => 0,
      (error: unknown) => {
        const failure = failureOf(error);
        return failure.kind === "retryable" ? failure.delayInSeconds : failure.reason;
      },
    );

  test("keeps off whoever wants the same or less, for as long as its process can live", async () => {
    expect(await waitOf(2)).toBe(0);
    clock = after(20);
    expect(await waitOf(2)).toBe(40);
    expect(await waitOf(1)).toBe(40);
  });

  test("lets through a task that requests more, which may be news that the other's answer lacks", async () => {
    expect(await waitOf(1)).toBe(0);
    expect(await waitOf(2)).toBe(0);
    expect(await waitOf(2)).toBe(60);
  });

  test("ends by itself with its process, for those who look at the document after that", async () => {
    await waitOf(2);
    clock = after(60);
    expect(await waitOf(2, after(59))).toBe(1);
    expect(await waitOf(1)).toBe(1);
    expect(await waitOf(2)).toBe(0);
    expect(await waitOf(2)).toBe(60);
  });

  test("that is given back is free for the same again, and only for it", async () => {
    const giveBack = await claim(subject, income, 2, clock);
    await giveBack();
    expect(await waitOf(1)).toBe(1);
    expect(await waitOf(2)).toBe(0);
  });

  test("is not given back by one who has lost it", async () => {
    const giveBack = await claim(subject, income, 2, clock);
    clock = after(60);
    await waitOf(2);
    await giveBack();
    expect(await waitOf(2)).toBe(60);
  });

  test("whose giving back fails ends by itself, and hides no other failure", async () => {
    const giveBack = await claim(subject, income, 2, clock);
    const working = system.fail("dynamodb:UpdateItem");
    await expect(giveBack()).resolves.toBeUndefined();
    working();
    expect(await waitOf(2)).toBe(60);
  });

  test("is of one endpoint and range only", async () => {
    const range = { start: "2026-01-01", end: "2026-01-31" };
    await waitOf(1);
    expect(await waitOf(1, clock, { endpoint: "profile" })).toBe(0);
    expect(await claim(subject, { ...income, range }, 1, clock)).toBeTypeOf("function");
  });

  test("expires a day after its end", async () => {
    await waitOf(1);
    expect(await table.item(`ACCOUNT#${subject.id}`, "CLAIM#income")).toMatchObject({
      noted: 1,
      until: after(60).getTime(),
      expiresAt: after(60).getTime() / 1000 + 86_400,
    });
  });

  test("that fails for another reason says so", async () => {
    const working = system.fail("dynamodb:UpdateItem");
    await expect(claim(subject, income, 1, clock)).rejects.toThrow("injected by the test");
    working();
  });
});
