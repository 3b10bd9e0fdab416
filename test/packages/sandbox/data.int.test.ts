import { dataRecords } from "@income-events/sandbox/data/data-sets.ts";
import { endpointNames } from "@income-events/sandbox/endpoint-names.ts";
import { expect, test } from "vitest";
import { call, jsonOf, receivingSandbox, sandboxFor } from "./support.ts";

const source = {
  id: "a6f1c0de-0000-4000-a000-000000000001",
  userId: "a6f1c0de-0000-4000-a000-000000000002",
  datasource: { name: "Paylane" },
  createdAt: new Date("2026-11-21T10:00:00Z"),
  pictureBytes: 0,
};

type Row = Record<string, unknown>;
const rows = (endpoint: (typeof endpointNames)[number], version = 3): Row[] =>
  dataRecords(endpoint, source, version).map((row) => ({ ...row }));
const cents = (value: unknown) => Math.round(Number(value) * 100);
const total = (items: readonly Row[], amount: (row: Row) => number) =>
  items.reduce((sum, row) => sum + amount(row), 0);

test("pay periods add up: gross is trips and bonuses, net is gross less fees and taxes", () => {
  const bonuses = rows("bonuses");
  for (const period of rows("income")) {
    const own = (row: Row) => row.pay_period_id === period.id;
    const earned = total(rows("trips").filter(own), ({ fare, tip }) => cents(fare) + cents(tip));
    const extra = total(bonuses.filter(own), ({ amount }) => cents(amount));
    expect(cents(period.gross)).toBe(earned + extra);
    expect(cents(period.net)).toBe(cents(period.gross) - cents(period.fees) - cents(period.taxes));
  }
  expect(bonuses.length).toBeGreaterThan(0);
});

test.each(endpointNames)("%s has records with ids, the same each time", (endpoint) => {
  const records = rows(endpoint);
  expect(records.length).toBeGreaterThan(0);
  const ids = records.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(rows(endpoint)).toEqual(records);
});

test("a user is one person on every platform, and nobody who exists", () => {
  const [here] = rows("profile");
  const [there] = dataRecords("profile", { ...source, id: "other" }, 1);
  expect(there).toMatchObject({ first_name: here?.first_name, email: here?.email });
  expect(here?.email).toMatch(/@example\.com$/);
  expect(here?.phone).toMatch(/^\+1-202-555-01\d\d$/);
});

test.each([
  ...["unknown=1", "limit=0", "limit=x", "limit=-1", "limit=99999", "cursor=nothing", "limit=1&limit=2"],
  ...["date_start=yesterday", "date_start=2026-02-30", "date_end=2026-13-01", "date_start="],
  ...["date_start=2026-01-02&date_end=2026-01-01", "date_start=2026-01-01&date_start=2026-01-02"],
  "from=2026-01-01",
])("data by %s is refused", async (query) => {
  const sandbox = await sandboxFor();
  const { companyAccounts } = await sandbox.createUsers(1, { companyAccounts: 1 });
  const path = `/api/v0.4/company-accounts/${companyAccounts[0]}/income`;
  expect(await call(sandbox, `${path}?${query}`)).toMatchObject({
    status: 400,
    body: { error: "invalid_request" },
  });
});

const periodEndpoints = ["income", "activity", "trips", "bonuses", "transactions", "documents"] as const;

test.each(periodEndpoints)("%s is given by days: the pay periods that touch them", (endpoint) => {
  const all = dataRecords(endpoint, source, 3);
  const periods = rows("income");
  const chosen = periods.slice(2, 5);
  const days = { start: String(chosen[0]?.date_end), end: String(chosen.at(-1)?.date_start) };
  const ids = new Set(chosen.map(({ id }) => id));
  const expected = all.filter((row) => ids.has(endpoint === "income" ? row.id : row.pay_period_id));
  expect(dataRecords(endpoint, source, 3, days).map(({ id }) => id)).toEqual(
    endpoint === "transactions" ? all.slice(2, 5).map(({ id }) => id) : expected.map(({ id }) => id),
  );
});

test("data by days is part of the whole, and what has no days is whole", async () => {
  const sandbox = await sandboxFor();
  const { companyAccounts } = await sandbox.createUsers(1, { companyAccounts: 1 });
  const get = async (path: string) => {
    const answer = await call(sandbox, `/api/company/v0.5/company-accounts/${companyAccounts[0]}/${path}`);
    return (answer.body as { data: { date_start: string; date_end: string }[] }).data;
  };
  const whole = await get("income");
  const [first, second] = [whole[0], whole[1]];
  expect(await get(`income?date_end=${first?.date_end}`)).toEqual([first]);
  expect(await get(`income?date_start=${second?.date_start}`)).toEqual(whole.slice(1));
  expect(await get("income?date_start=2001-01-01&date_end=2001-01-31")).toEqual([]);
  expect(await get("profile?date_start=2001-01-01&date_end=2001-01-31")).toEqual(await get("profile"));
});

test("the profile endpoint serves identity data", () => {
  expect(rows("profile")).toEqual([
    expect.objectContaining({
      first_name: expect.any(String),
      last_name: expect.any(String),
      email: expect.any(String),
    }),
  ]);
});

test("some accounts can have a picture of over 400 KB in their profiles, the same each time", async () => {
  const sandbox = await sandboxFor();
  const { accounts } = await sandbox.createUsers(3, { pictures: 1 });
  for (const id of accounts) {
    const path = `/api/v0.4/accounts/${id}/fetches`;
    await call(sandbox, path, { method: "POST", json: { endpoints: ["profile"] } });
  }
  await sandbox.waitUntilIdle();
  const sizes = accounts.map((id) => JSON.stringify(sandbox.data(id, "profile")).length);
  expect(sizes.map((size) => size > 400 * 1024)).toEqual([true, false, false]);
  const { body } = await call(sandbox, `/api/v0.4/accounts/${accounts[0]}/profile`);
  expect(body).toEqual(sandbox.data(accounts[0] ?? "", "profile"));
});

test("data is updated over time in production too", async () => {
  const sandbox = await sandboxFor({ productionPort: 0 });
  await sandbox.production?.createUsers(1, { companyAccounts: 1, accountsPerUser: 0 });
  const versionOf = () =>
    sandbox.production?.snapshot().endpoints.find(({ endpoint }) => endpoint === "trips")?.version;
  expect(versionOf()).toBe(1);
  await sandbox.advance(86_401);
  await sandbox.production?.waitUntilIdle();
  expect(versionOf()).toBe(2);
});

test("data is updated over time, which causes endpoint events for what lives", async () => {
  const { sandbox, received } = await receivingSandbox();
  const { accounts } = await sandbox.createUsers(2);
  const json = { endpoints: ["income", "profile"] };
  await call(sandbox, `/api/v0.4/accounts/${accounts[0]}/fetches`, { method: "POST", json });
  await sandbox.waitUntilIdle();
  const before = received.length;
  await sandbox.advance(2 * 86_400 + 60);
  const events = received.slice(before).map(jsonOf);
  expect(events.map(({ account_id, endpoint }) => [account_id, endpoint])).toEqual([
    [accounts[0], "income"],
    [accounts[0], "income"],
  ]);
  expect(sandbox.snapshot().endpoints).toMatchObject([
    { endpoint: "income", version: 3 },
    { endpoint: "profile", version: 1 },
  ]);
});
