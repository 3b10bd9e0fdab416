import { endpointNames } from "@income-events/sandbox/endpoint-names.ts";
import type { Environment } from "@income-events/sandbox/environment.ts";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, test } from "vitest";
import {
  call,
  jsonOf,
  receivingSandbox,
  registerAll,
  sandboxFor,
  startReceiver,
  webhookPaths,
} from "./support.ts";

const timestamp = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d+)? UTC$/;
const date = /^\d{4}-\d{2}-\d{2}$/;
const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** Every string in a value, with its property name. */
function textsIn(value: unknown, name = ""): [string, string][] {
  if (typeof value === "string") return [[name, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => textsIn(part, Array.isArray(value) ? name : key));
}

async function environmentsFor(): Promise<[string, Environment][]> {
  const sandbox = await sandboxFor({ productionPort: 0 });
  if (sandbox.production === undefined) throw new Error("production does not run");
  return [
    ["sandbox", sandbox],
    ["production", sandbox.production],
  ];
}

test("every date-time in answers and events is <date> <time> UTC, every id a UUID", async () => {
  const { sandbox, received } = await receivingSandbox();
  const { accounts, companyAccounts } = await sandbox.createUsers(2, { companyAccounts: 1 });
  const path = `/api/v0.4/accounts/${accounts[0]}`;
  const fetched = await call(sandbox, `${path}/fetches`, {
    method: "POST",
    json: { endpoints: endpointNames },
  });
  await sandbox.waitUntilIdle();
  const paths = [
    "/api/v0.4/users",
    path,
    `/api/company/v0.5/company-accounts/${companyAccounts[0]}`,
    ...endpointNames.map((name) => `${path}/${name}`),
  ];
  const answers = await Promise.all(paths.map((one) => call(sandbox, one)));
  const texts = textsIn([fetched.body, answers.map(({ body }) => body), received.map(jsonOf)]);
  const timestamps = texts.filter(([name]) => /(_at|^at)$/.test(name));
  // The operator's user data has its own conventions.
  const ids = texts.filter(([name]) => /^id$|_id$/.test(name) && name !== "loan_id");
  const otherTimes = texts.filter(([, text]) => /^\d{4}-\d{2}-\d{2}/.test(text) && !timestamp.test(text));
  expect(timestamps.length).toBeGreaterThan(50);
  expect(timestamps.filter(([, text]) => !timestamp.test(text))).toEqual([]);
  expect(otherTimes.filter(([, text]) => !date.test(text))).toEqual([]);
  expect(ids.length).toBeGreaterThan(100);
  expect(ids.filter(([, text]) => !uuid.test(text))).toEqual([]);
});

test("ids of users and accounts are unique", async () => {
  const sandbox = await sandboxFor();
  const { users, accounts, companyAccounts } = await sandbox.createUsers(1500, { companyAccounts: 50 });
  const ids = [...users, ...accounts, ...companyAccounts];
  expect(new Set(ids).size).toBe(3050);
});

test("every path of the specification is answered in both environments", async () => {
  const webhook = { url: "http://127.0.0.1:9/", method: "POST", headers: {} };
  for (const [name, environment] of await environmentsFor()) {
    for (const path of ["/api/v0.4/users", "/api/v0.4/token/refresh", "/api/v0.3/token/refresh"]) {
      expect((await call(environment, path)).status, `${name} ${path}`).toBe(200);
    }
    for (const path of Object.values(webhookPaths)) {
      const { status } = await call(environment, path, { method: "PUT", json: webhook });
      expect(status, `${name} ${path}`).toBe(200);
    }
  }
});

test.each([
  "/api/users",
  "/api/v0.5/users",
  "/api/v0.3/users",
  "/api/v0.4/webhooks/users",
  "/api/v0.5/token/refresh",
  "/api/v0.3/webhooks/company-accounts",
  "/api/company/v0.4/webhooks/accounts",
])("%s, without its version or under another, is not answered", async (path) => {
  const sandbox = await sandboxFor();
  expect((await call(sandbox, path)).status).toBe(404);
  expect((await call(sandbox, path, { method: "PUT", json: {} })).status).toBe(404);
});

test("a company account announces its connection and its updates", async () => {
  const { sandbox, received } = await receivingSandbox();
  const { companyAccounts } = await sandbox.createUsers(1, { companyAccounts: 1, accountsPerUser: 0 });
  const path = `/api/company/v0.5/company-accounts/${companyAccounts[0]}`;
  const json = { endpoints: ["income"] };
  expect((await call(sandbox, `${path}/fetches`, { method: "POST", json })).status).toBe(202);
  await sandbox.waitUntilIdle();
  const announced = received.filter(({ path: at }) => at === "/hook/company-accounts").map(jsonOf);
  expect(announced.map(({ event }) => event).sort()).toEqual(["connect_account", "update_account"]);
  expect(announced.every(({ company_account_id: id }) => id === companyAccounts[0])).toBe(true);
  expect((await call(sandbox, `${path}/income`)).body).toMatchObject({ revision: 2 });
});

test("sandbox and production run at once, on separate addresses with separate tokens and users", async () => {
  const sandbox = await sandboxFor({ productionPort: 0 });
  const { production } = sandbox;
  if (production === undefined) throw new Error("production does not run");
  expect(production.baseUrl).not.toBe(sandbox.baseUrl);
  for (const [one, other] of [
    [sandbox, production],
    [production, sandbox],
  ] as const) {
    expect((await call(one, "/api/v0.4/users")).status).toBe(200);
    const headers = { authorization: `Bearer ${other.token}` };
    expect(await call(one, "/api/v0.4/users", { headers })).toMatchObject({ status: 401 });
  }
  const [ofSandbox, ofProduction] = [await startReceiver(), await startReceiver()];
  await registerAll(sandbox, ofSandbox.url);
  await registerAll(production, ofProduction.url);
  const made = await sandbox.createUsers(2);
  expect(production.snapshot().users).toEqual([]);
  await sandbox.waitUntilIdle();
  expect([ofSandbox.received.length, ofProduction.received.length]).toEqual([6, 0]);
  expect((await production.createUsers(2)).users).not.toEqual(made.users);
});

test("a refresh can end the token that it was called with", async () => {
  const sandbox = await sandboxFor({ refreshEndsToken: true });
  const { body } = await call(sandbox, "/api/v0.4/token/refresh");
  expect(await call(sandbox, "/api/v0.4/users")).toMatchObject({
    status: 401,
    body: { message: "the token is revoked" },
  });
  const headers = { authorization: `Bearer ${(body as { token: string }).token}` };
  expect((await call(sandbox, "/api/v0.4/users", { headers })).status).toBe(200);
});

async function problemsOf(description: unknown): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source: JSON.stringify(description), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`);
}

test("the descriptions of the API and of the control address have no lint problem", async () => {
  const sandbox = await sandboxFor({ controlPort: 0 });
  const headers = { authorization: `Bearer ${sandbox.token}` };
  for (const url of [`${sandbox.baseUrl}/api/openapi.json`, `${sandbox.control}/openapi.json`]) {
    const description = await (await fetch(url, { headers })).json();
    expect(description).toMatchObject({ openapi: expect.stringMatching(/^3\.1/), paths: expect.any(Object) });
    expect(await problemsOf(description)).toEqual([]);
  }
});
