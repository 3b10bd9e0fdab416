import { createHmac } from "node:crypto";
import { stoppedClock } from "@income-events/sandbox/clock.ts";
import type { Sandbox, SandboxOptions } from "@income-events/sandbox/server.ts";
import { expect, onTestFinished, test, vi } from "vitest";
import { call, jsonOf, type Received, sandboxFor, startReceiver } from "./support.ts";

const nanoseconds = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z$/;
const paths = {
  users: "/api/v0.5/webhooks/users",
  accounts: "/api/v0.5/webhooks/accounts",
  endpoints: "/api/v0.5/webhooks/endpoints",
  "multi-endpoints": "/api/v0.5/webhooks/multi-endpoints",
  "connect-events": "/api/v0.5/webhooks/sandbox-connect-events",
  "company-accounts": "/company/v0.5/webhooks/accounts",
  "company-endpoints": "/company/v0.5/webhooks/endpoints",
} as const;
type Kind = keyof typeof paths;
const kinds = Object.keys(paths) as Kind[];

/**
 * A sandbox of interface 0.5 that sends webhooks of some kinds to one receiver; the URL ends with the kind.
 */
async function newerSandbox(
  options: SandboxOptions = {},
  registered: readonly Kind[] = kinds,
  answer: Parameters<typeof startReceiver>[0] = () => 200,
) {
  const { url, received } = await startReceiver(answer);
  const sandbox = await sandboxFor({ interface: "0.5", ...options });
  for (const kind of registered) await register(sandbox, kind, { url: `${url}/${kind}` });
  return { sandbox, url, received };
}

function register(sandbox: Sandbox, kind: Kind, json: object) {
  return call(sandbox, paths[kind], {
    method: "PUT",
    json: { method: "POST", enabled: true, ...json },
  });
}

function eventsOf(kind: Kind, received: readonly Received[]) {
  return received.filter(({ path }) => path === `/hook/${kind}`).map(jsonOf);
}

test("0.5 serves users, accounts, data and the token under /api/v0.5, beside the older paths", async () => {
  const { sandbox } = await newerSandbox({}, []);
  const { users, accounts, companyAccounts } = await sandbox.createUsers(1, { companyAccounts: 1 });
  sandbox.fetchData(accounts[0] ?? "", ["income"]);
  await sandbox.waitUntilIdle();
  const all = [
    "/api/v0.5/users",
    `/api/v0.5/users/${users[0]}`,
    `/api/v0.5/users/${users[0]}/accounts`,
    `/api/v0.5/accounts/${accounts[0]}`,
    `/api/v0.5/accounts/${accounts[0]}/income`,
    `/company/v0.5/company-accounts/${companyAccounts[0]}`,
    `/company/v0.5/company-accounts/${companyAccounts[0]}/income`,
    "/api/v0.5/token/refresh",
    "/api/v0.4/users",
    "/api/v0.3/token/refresh",
  ];
  for (const path of all) expect((await call(sandbox, path)).status, path).toBe(200);
  const older = await sandboxFor();
  expect((await call(older, "/api/v0.5/users")).status).toBe(404);
});

test("lists of 0.5 are an object with data and size", async () => {
  const { sandbox } = await newerSandbox({}, []);
  const { users } = await sandbox.createUsers(3, { accountsPerUser: 2 });
  const list = (path: string) => call(sandbox, path).then(({ body }) => body);
  expect(await list("/api/v0.5/users")).toMatchObject({ size: 3, data: users.map((id) => ({ id })) });
  expect(await list(`/api/v0.5/users/${users[0]}/accounts`)).toMatchObject({
    size: 2,
    data: [{ connected: true, reconnecting: false, user_id: users[0] }, { user_id: users[0] }],
  });
});

test("users are created with metadata, changed and deleted with their accounts, and each is announced", async () => {
  const { sandbox, received } = await newerSandbox();
  const metadata = { customer_id: "c-17" };
  const created = await call(sandbox, "/api/v0.5/users", { method: "POST", json: { metadata } });
  const { id } = Object(created.body);
  expect(created.body).toMatchObject({ metadata, session_expired: false, accounts_number: 0 });
  const account = sandbox.createAccount(id);
  const path = `/api/v0.5/users/${id}`;
  await call(sandbox, path, { method: "PUT", json: { metadata: { other: 1 } } });
  expect((await call(sandbox, path)).body).toMatchObject({ metadata: { other: 1 } });
  await call(sandbox, path, { method: "DELETE" });
  expect((await call(sandbox, path)).status).toBe(404);
  expect((await call(sandbox, `/api/v0.5/accounts/${account}`)).status).toBe(410);
  await sandbox.waitUntilIdle();
  const common = { user_id: id, created_at: expect.stringMatching(nanoseconds) };
  expect(eventsOf("users", received)).toEqual([
    { ...common, event: "create_user", metadata, account_count: 0 },
    { ...common, event: "update_user", metadata: { other: 1 }, account_count: 1 },
    { ...common, event: "delete_user", metadata: { other: 1 }, account_count: 0 },
  ]);
});

test("an account of 0.5 is disconnected, reconnected by a session, and deleted, which is announced", async () => {
  const { sandbox, received } = await newerSandbox({}, ["accounts"]);
  const { users, accounts } = await sandbox.createUsers(1);
  const path = `/api/v0.5/accounts/${accounts[0]}`;
  const post = (act: string) => call(sandbox, `${path}/${act}`, { method: "POST" });
  expect((await post("disconnect")).body).toMatchObject({ id: accounts[0], connected: false });
  expect((await post("reconnect")).body).toMatchObject({ session: expect.any(String) });
  expect((await call(sandbox, path, { method: "DELETE" })).status).toBe(200);
  await sandbox.waitUntilIdle();
  const about = {
    account_id: accounts[0],
    user_id: users[0],
    datasource_id: expect.any(String),
    created_at: expect.stringMatching(nanoseconds),
  };
  expect(eventsOf("accounts", received)).toEqual([
    { ...about, action: "create_account", connected: false },
    { ...about, action: "connect_account", connected: true },
    { ...about, action: "disconnect_account", connected: false },
    { ...about, action: "delete_account", connected: false },
  ]);
});

test("data that was fetched is announced by endpoint and, to multi-endpoints, by account", async () => {
  const { sandbox, received } = await newerSandbox();
  const { accounts, companyAccounts } = await sandbox.createUsers(1, { companyAccounts: 1 });
  sandbox.fetchData(accounts[0] ?? "", ["income", "profile"]);
  sandbox.fetchData(companyAccounts[0] ?? "", ["income"]);
  await sandbox.waitUntilIdle();
  expect(eventsOf("endpoints", received)).toMatchObject([
    { event: "update_endpoint", account_id: accounts[0], endpoint: "income", data_available: true },
    { event: "update_endpoint", account_id: accounts[0], endpoint: "profile", data_available: true },
  ]);
  expect(eventsOf("multi-endpoints", received)).toMatchObject([
    {
      event: "update_multi_endpoint",
      account_id: accounts[0],
      endpoints: [{ endpoint: "income" }, { endpoint: "profile" }],
    },
  ]);
  expect(eventsOf("company-endpoints", received)).toMatchObject([
    { event: "update_endpoint", account_id: companyAccounts[0], company_id: expect.any(String) },
  ]);
});

test("multi-endpoints with platform_ids announces those platforms only", async () => {
  const { sandbox, url, received } = await newerSandbox({}, []);
  const { accounts } = await sandbox.createUsers(2);
  const { body } = await call(sandbox, `/api/v0.5/accounts/${accounts[0]}`);
  const platform_ids = [Object(body).datasource_id];
  await register(sandbox, "multi-endpoints", { url: `${url}/multi-endpoints`, platform_ids });
  for (const account of accounts) sandbox.fetchData(account, ["income"]);
  await sandbox.waitUntilIdle();
  expect(eventsOf("multi-endpoints", received)).toMatchObject([{ account_id: accounts[0] }]);
});

test("a PUT of 0.5 replaces the webhook as a whole: fields that are not sent are deleted", async () => {
  const { sandbox, url, received } = await newerSandbox({}, []);
  await register(sandbox, "users", { url: `${url}/users`, headers: { "x-one": "1" }, secret: "s" });
  sandbox.fireEvent("users", { n: 1 });
  await sandbox.waitUntilIdle();
  const signature = createHmac("sha512", "s").update('{"n":1}').digest("base64");
  expect(received[0]?.headers).toMatchObject({ "x-one": "1", "x-signature": signature });
  await register(sandbox, "users", { url: `${url}/users` });
  sandbox.fireEvent("users", { n: 2 });
  await sandbox.waitUntilIdle();
  expect(received[1]?.headers["x-one"]).toBeUndefined();
  expect(received[1]?.headers["x-signature"]).toBeUndefined();
  await register(sandbox, "users", { url: `${url}/users`, enabled: undefined });
  sandbox.fireEvent("users", { n: 3 });
  await sandbox.waitUntilIdle();
  expect(received).toHaveLength(2);
  expect(sandbox.deliveries().at(-1)).toMatchObject({ status: "unregistered" });
});

test("webhooks of 0.5 are listed, disabled ones too, and deleted by their type", async () => {
  const { sandbox, url } = await newerSandbox({}, ["users", "multi-endpoints", "company-endpoints"]);
  await register(sandbox, "accounts", { url, enabled: false, headers: { "x-secret": "hidden" } });
  const list = (root = "/api/v0.5") => call(sandbox, `${root}/webhooks`).then(({ body }) => body);
  const listed = await list();
  expect(listed).toMatchObject({
    size: 3,
    data: [
      { type: "users", url: `${url}/users`, method: "POST", enabled: true, signed: false },
      { type: "accounts", url, enabled: false, header_names: ["x-secret"] },
      { type: "multi_endpoints", enabled: true },
    ],
  });
  expect(JSON.stringify(listed)).not.toContain("hidden");
  const remove = (type: string) => call(sandbox, `/api/v0.5/webhooks/${type}`, { method: "DELETE" });
  expect((await remove("multi_endpoints")).status).toBe(200);
  expect((await remove("multi_endpoints")).status).toBe(404);
  expect(await list()).toMatchObject({ size: 2 });
  expect(await list("/company/v0.5")).toMatchObject({ size: 1, data: [{ type: "endpoints" }] });
});

test("an attempt of 0.5 times out after 10 s", async () => {
  const timeout = vi.spyOn(AbortSignal, "timeout");
  onTestFinished(() => timeout.mockRestore());
  const { sandbox } = await newerSandbox({ delivery: {} }, ["users"]);
  timeout.mockImplementation((milliseconds) => {
    const hasExpired = milliseconds <= 10_000;
    return hasExpired
      ? AbortSignal.abort(new DOMException("10 s have passed", "TimeoutError"))
      : new AbortController().signal;
  });
  sandbox.fireEvent("users", {});
  await sandbox.quiet();
  expect(timeout).toHaveBeenLastCalledWith(10_000);
  expect(sandbox.deliveries()).toMatchObject([{ attempts: 1, lastError: "timed out" }]);
});

test("a delivery of 0.5 is tried three times, at least 30 s apart, and then discarded", async () => {
  const clock = stoppedClock(new Date("2026-11-21T10:00:00Z"));
  const { sandbox, received } = await newerSandbox({ clock, delivery: {} }, ["users"], () => 503);
  sandbox.fireEvent("users", {});
  const attemptsAfter = async (seconds: number) => {
    await sandbox.advance(seconds);
    return received.length;
  };
  expect(await attemptsAfter(29)).toBe(1);
  expect(await attemptsAfter(1)).toBe(2);
  expect(await attemptsAfter(29)).toBe(2);
  expect(await attemptsAfter(86_400)).toBe(3);
  expect(sandbox.deliveries()).toMatchObject([{ status: "given-up", attempts: 3, lastStatus: 503 }]);
});
