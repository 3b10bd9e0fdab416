import { expect, test } from "vitest";
import { call, jsonOf, receivingSandbox, sandboxFor } from "./support.ts";

const uuid = expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/);
const timestamp = expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{3} UTC$/);

test("a user registers, an account is created and connected, and each step is announced", async () => {
  const { sandbox, received } = await receivingSandbox();
  const ids = await sandbox.createUsers(1, { companyAccounts: 1 });
  await sandbox.waitUntilIdle();
  const announced = (kind: string) => received.filter(({ path }) => path === `/hook/${kind}`).map(jsonOf);
  const [user, account, company] = [ids.users[0], ids.accounts[0], ids.companyAccounts[0]];
  expect(announced("users")).toEqual([
    {
      action: "create_user",
      data: {
        id: user,
        metadata: { loan_id: "L-1001" },
        created_at: timestamp,
        accounts_number: 0,
        link: expect.stringContaining(sandbox.baseUrl),
        session: uuid,
        session_expires_at: timestamp,
      },
    },
  ]);
  const fields = { user_id: user, datasource_id: uuid, created_at: timestamp };
  const accounts = announced("accounts").sort((a, b) => String(a.event).localeCompare(String(b.event)));
  expect(accounts).toEqual([
    { event: "create_account", account_id: account, connected: false, ...fields },
    { event: "update_account", account_id: account, connected: true, ...fields },
  ]);
  expect(announced("company-accounts")).toEqual([
    { event: "connect_account", company_account_id: company, connected: true, ...fields },
  ]);
  expect(announced("endpoints")).toEqual([]);
});

test("users are listed and shown without their credentials", async () => {
  const sandbox = await sandboxFor();
  const { users } = await sandbox.createUsers(3, { accountsPerUser: 2 });
  const list = await call(sandbox, "/api/v0.4/users");
  const kept = (index: number) => ({ metadata: { loan_id: `L-${1001 + index}` } });
  expect(list.body).toEqual(
    users.map((id, index) => ({ id, ...kept(index), created_at: timestamp, accounts_number: 2 })),
  );
  expect(await call(sandbox, `/api/v0.4/users/${users[0]}`)).toMatchObject({
    status: 200,
    body: { id: users[0] },
  });
  expect((await call(sandbox, "/api/v0.4/users/nobody")).status).toBe(404);
});

test("a user's accounts are listed, whole or page by page, without company accounts and deleted ones", async () => {
  const sandbox = await sandboxFor();
  const { users, accounts } = await sandbox.createUsers(1, { accountsPerUser: 4, companyAccounts: 1 });
  sandbox.disconnectAccount(accounts[1] ?? "");
  sandbox.deleteAccount(accounts[3] ?? "");
  const path = `/api/v0.4/users/${users[0]}/accounts`;
  const listed = accounts.slice(0, 3).map((id) => ({ id, user_id: users[0], connected: id !== accounts[1] }));
  const whole = await call(sandbox, path);
  expect(whole.body).toMatchObject(listed);
  expect(whole.body).toHaveLength(3);
  const first = await call(sandbox, `${path}?limit=2`);
  expect(first.body).toMatchObject({ data: listed.slice(0, 2), next: expect.any(String) });
  const { next } = first.body as { next: string };
  const second = await call(sandbox, `${path}?limit=2&cursor=${next}`);
  expect(second.body).toMatchObject({ data: listed.slice(2), next: null });
  expect((await call(sandbox, "/api/v0.4/users/nobody/accounts")).status).toBe(404);
});

test("a fetch is started, announced by endpoint and then there to be read; the next one changes the data", async () => {
  const { sandbox, received } = await receivingSandbox();
  const { accounts, users } = await sandbox.createUsers(1);
  const path = `/api/v0.4/accounts/${accounts[0]}`;
  expect((await call(sandbox, `${path}/income`)).status).toBe(404);
  const start = () =>
    call(sandbox, `${path}/fetches`, { method: "POST", json: { endpoints: ["profile", "income"] } });
  const started = await start();
  expect(started).toMatchObject({ status: 202, body: { request_id: uuid } });
  await sandbox.waitUntilIdle();
  const events = received.filter(({ path: at }) => at === "/hook/endpoints").map(jsonOf);
  expect(events.map(({ endpoint }) => endpoint).sort()).toEqual(["income", "profile"]);
  expect(events[0]).toEqual({
    event: "update_endpoint",
    request_id: (started.body as { request_id: string }).request_id,
    account_id: accounts[0],
    user_id: users[0],
    endpoint: expect.any(String),
    date_start: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
    date_end: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
    data_available: true,
  });
  const first = await call(sandbox, `${path}/income`);
  expect(first).toMatchObject({
    status: 200,
    body: { account_id: accounts[0], endpoint: "income", revision: 1 },
  });
  expect(first.body).toEqual(sandbox.data(accounts[0] ?? "", "income"));
  await start();
  await sandbox.waitUntilIdle();
  const second = await call(sandbox, `${path}/income`);
  const records = (answer: { body: unknown }) => (answer.body as { data: unknown[] }).data;
  expect(records(second).slice(0, -1)).toEqual(records(first));
  expect(sandbox.snapshot().endpoints).toContainEqual({
    accountId: accounts[0],
    company: false,
    endpoint: "income",
    version: 2,
  });
});

test("an account is disconnected, connected again and deleted, and its state says so", async () => {
  const { sandbox, received } = await receivingSandbox();
  const { accounts } = await sandbox.createUsers(1);
  const [id = ""] = accounts;
  const path = `/api/v0.4/accounts/${id}`;
  const fetches = () => call(sandbox, `${path}/fetches`, { method: "POST", json: { endpoints: ["trips"] } });
  expect((await call(sandbox, path)).body).toMatchObject({ id, connected: true });
  sandbox.disconnectAccount(id);
  expect((await call(sandbox, path)).body).toMatchObject({ id, connected: false });
  expect((await fetches()).status).toBe(409);
  sandbox.reconnectAccount(id);
  expect((await fetches()).status).toBe(202);
  await sandbox.waitUntilIdle();
  sandbox.deleteAccount(id);
  await sandbox.waitUntilIdle();
  expect((await call(sandbox, path)).status).toBe(410);
  expect((await call(sandbox, `${path}/trips`)).status).toBe(410);
  expect(() => sandbox.reconnectAccount(id)).toThrow("deleted");
  const announced = received
    .filter(({ path: at }) => at === "/hook/accounts")
    .map((one) => jsonOf(one).event);
  expect(announced.sort()).toEqual([
    "create_account",
    "delete_account",
    "disconnect_account",
    "update_account",
    "update_account",
  ]);
});

test("unknown accounts and endpoints are 404", async () => {
  const sandbox = await sandboxFor();
  const { accounts, companyAccounts } = await sandbox.createUsers(1, { companyAccounts: 1 });
  for (const path of [
    "/api/v0.4/accounts/x",
    "/api/v0.4/accounts/x/profile",
    `/api/v0.4/accounts/${accounts[0]}/nothing`,
    `/api/v0.4/accounts/${companyAccounts[0]}`,
    `/api/company/v0.5/company-accounts/${accounts[0]}`,
  ]) {
    expect((await call(sandbox, path)).status, path).toBe(404);
  }
});

test.each(["/api/company/v0.5", "/api/v0.4"])("company accounts are served under %s", async (prefix) => {
  const sandbox = await sandboxFor();
  const { companyAccounts } = await sandbox.createUsers(1, { companyAccounts: 1 });
  const path = `${prefix}/company-accounts/${companyAccounts[0]}`;
  expect((await call(sandbox, path)).body).toMatchObject({ id: companyAccounts[0], connected: true });
  expect((await call(sandbox, `${path}/income`)).body).toMatchObject({ endpoint: "income", revision: 1 });
});

test("the same seed makes the same ids and data", async () => {
  const make = async (seed: number) => {
    const sandbox = await sandboxFor({ seed });
    const ids = await sandbox.createUsers(2, { companyAccounts: 1 });
    return ids;
  };
  expect(await make(7)).toEqual(await make(7));
  expect(await make(7)).not.toEqual(await make(8));
});

test("a page size limits every list, whatever is requested", async () => {
  const sandbox = await sandboxFor({ pageSize: 2 });
  const { users, accounts } = await sandbox.createUsers(3);
  const list = async (path: string) => (await call(sandbox, path)).body;
  const some = (count: number) => Array.from({ length: count }, () => expect.anything());
  expect(await list("/api/v0.4/users")).toEqual({ data: some(2), next: expect.any(String) });
  expect(await list("/api/v0.4/users?limit=9")).toEqual({ data: some(2), next: expect.any(String) });
  expect(await list("/api/v0.4/users?limit=1")).toEqual({ data: some(1), next: expect.any(String) });
  expect(await list(`/api/v0.4/users/${users[0]}`)).toMatchObject({ id: users[0] });
  await call(sandbox, `/api/v0.4/accounts/${accounts[0]}/fetches`, {
    method: "POST",
    json: { endpoints: ["transactions"] },
  });
  await sandbox.waitUntilIdle();
  expect(await list(`/api/v0.4/accounts/${accounts[0]}/transactions`)).toMatchObject({
    data: some(2),
    next: expect.any(String),
  });
});
