import { stoppedClock } from "@income-events/sandbox/clock.ts";
import type { Environment } from "@income-events/sandbox/environment.ts";
import { startSandbox } from "@income-events/sandbox/server.ts";
import { expect, test } from "vitest";
import {
  call,
  directoryForTest,
  jsonOf,
  receivingSandbox,
  registerAll,
  sandboxFor,
  startReceiver,
} from "./support.ts";

const logo = "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'/%3E";
const branding = { name: "Bold Bank", logo, accentColor: "#7a1f5c" };

/** Sends a form, or gets a page, without following redirects. */
async function visit(environment: Environment, path: string, form?: Record<string, string> | string) {
  const response = await fetch(`${environment.baseUrl}${path}`, {
    redirect: "manual",
    ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) }),
  });
  const location = response.headers.get("location") ?? "";
  return { status: response.status, headers: response.headers, location, page: await response.text() };
}

async function register(environment: Environment): Promise<string> {
  const { location } = await visit(environment, "/connect", { name: "Ada" });
  return location;
}

const paylane = "/datasources/5d1f0a4e-6f0b-4c3e-9a53-0b6a1f6d0001";

const credentials = { username: "test-user", password: "test-password" };

async function submit(environment: Environment, username: string, password = "test-password") {
  const session = await register(environment);
  const { location } = await visit(environment, `${session}${paylane}`, { username, password });
  await environment.waitUntilIdle();
  return visit(environment, location);
}

async function productionFor(options: Parameters<typeof sandboxFor>[0] = {}) {
  const sandbox = await sandboxFor({ productionPort: 0, ...options });
  if (sandbox.production === undefined) throw new Error("production does not run");
  return { sandbox, production: sandbox.production };
}

test("the link in the users' event opens that user's flow, until it expires", async () => {
  const clock = stoppedClock(new Date("2026-11-21T10:00:00Z"));
  const { sandbox, received } = await receivingSandbox({ clock });
  await sandbox.createUsers(1, { accountsPerUser: 0 });
  await sandbox.waitUntilIdle();
  const { data } = received.map(jsonOf)[0] as { data: { link: string } };
  const path = new URL(data.link).pathname;
  expect((await visit(sandbox, path)).status).toBe(200);
  clock.advance(3_600_000);
  expect((await visit(sandbox, path)).status).toBe(410);
});

test.each([
  ["?account_alert=false", true, []],
  ["?account_alert=true", false, ["create_account"]],
  ["", true, ["create_account"]],
  ["", false, []],
])("the link /connect%s, default %s, chooses the account alert", async (query, byDefault, expected) => {
  const { sandbox, received } = await receivingSandbox({ alertOnAccountCreation: byDefault });
  const { location } = await visit(sandbox, `/connect${query}`, { name: "Ada" });
  await visit(sandbox, `${location}${paylane}`, credentials);
  await sandbox.waitUntilIdle();
  const announced = received.map((one) => jsonOf(one).event);
  expect(announced).toContain("update_account");
  expect(announced.filter((event) => event === "create_account")).toEqual(expected);
});

test("a link gives the user metadata, which the events of the user have in the older interface, too", async () => {
  const { sandbox, received } = await receivingSandbox();
  const metadata = { loan_id: "L-7" };
  const query = `?metadata=${encodeURIComponent(JSON.stringify(metadata))}`;
  await visit(sandbox, `/connect${query}`, { name: "Ada" });
  await sandbox.waitUntilIdle();
  expect(received.map(jsonOf)).toMatchObject([{ action: "create_user", data: { metadata } }]);
});

test.each([
  ["account_alert=perhaps", "account_alert is true or false"],
  ["metadata=loan", "metadata is a JSON object"],
  ["metadata=%5B1%5D", "metadata is a JSON object"],
  ["metadata=%7B%7D&metadata=%7B%7D", "metadata is a JSON object"],
])("a link with %s is refused", async (query, reason) => {
  const sandbox = await sandboxFor();
  for (const form of [undefined, { name: "Ada" }]) {
    const { status, page } = await visit(sandbox, `/connect?${query}`, form);
    expect([status, page]).toEqual([400, expect.stringContaining(reason)]);
  }
  expect(sandbox.snapshot().users).toEqual([]);
});

test("the sandbox takes fake test credentials only", async () => {
  const sandbox = await sandboxFor();
  expect((await submit(sandbox, "test-user")).page).toContain("Connected to Paylane");
  expect((await submit(sandbox, "ada@example.com", "secret")).page).toContain("Only test credentials");
  expect((await submit(sandbox, "test-user", "wrong")).page).toContain("password is wrong");
  expect(sandbox.snapshot().accounts.map(({ connected }) => connected)).toEqual([true, false, false]);
});

test("production refuses fake credentials and takes others", async () => {
  const { production } = await productionFor({ branding });
  expect((await submit(production, "test-user")).page).toContain("Test credentials don&#39;t work here");
  expect((await submit(production, "ada@example.com", "secret")).page).toContain("Connected to Paylane");
});

test("production needs a logo and customizations, the sandbox does not", async () => {
  const { sandbox, production } = await productionFor();
  expect((await visit(sandbox, "/connect")).status).toBe(200);
  const missing = await visit(production, "/connect");
  expect(missing.status).toBe(409);
  expect(missing.page).toContain("name, logo, accentColor");
  const { production: branded } = await productionFor({ branding });
  const { status, page } = await visit(branded, "/connect");
  expect(status).toBe(200);
  for (const text of ["Bold Bank", "data:image/svg+xml", "#7a1f5c"]) expect(page).toContain(text);
});

test("name and logo are shown in the sandbox's flow, and a custom list can stand for the search", async () => {
  const datasources = [
    { id: "5d1f0a4e-6f0b-4c3e-9a53-0b6a1f6d0099", name: "Only One", category: "payroll" },
  ] as const;
  const sandbox = await sandboxFor({ branding: { name: "Bold Bank", logo, datasources } });
  const { page } = await visit(sandbox, await register(sandbox));
  for (const text of ["Bold Bank", "data:image/svg+xml", "Only One", "1 platform<"])
    expect(page).toContain(text);
  expect(page).not.toContain("Paylane");
});

test("analytics of the flow run in production only, and say nothing about the person", async () => {
  const { sandbox, production } = await productionFor({ branding, controlPort: 0 });
  await submit(sandbox, "test-user");
  await submit(production, "ada@example.com", "secret");
  expect(sandbox.analytics()).toEqual([]);
  expect(production.analytics().map(({ step }) => step)).toEqual(["registered", "submitted", "connected"]);
  const answer = await (await fetch(`${sandbox.control}/analytics`)).text();
  expect(answer).toContain("submitted");
  expect(answer).not.toMatch(/ada|secret/i);
});

test.each([
  { name: "" },
  { logo: "https://example.com/logo.png" },
  { logo: `data:image/png;base64,${"A".repeat(140_000)}` },
  { logo: "data:image/png;base64,AAAA\r\nset-cookie: a=1" },
  { logo: 'data:image/svg+xml,<svg> onerror=\n"' },
  { accentColor: "red" },
  { datasources: [] },
])("the look %j is refused", async (branding) => {
  await expect(sandboxFor({ branding })).rejects.toThrow(RangeError);
});

test.each<[string, Record<string, string>, number]>([
  ["an empty name", { name: " " }, 422],
  ["a name that is too long", { name: "x".repeat(101) }, 422],
  ["an unknown field", { name: "Ada", admin: "yes" }, 400],
  ["no name", {}, 400],
  ["a huge form", { name: "x".repeat(20_000) }, 413],
])("%s is refused with a page", async (_name, form, status) => {
  const sandbox = await sandboxFor();
  const answer = await visit(sandbox, "/connect", form);
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toContain("text/html");
  expect(answer.page).not.toMatch(/node_modules|\.ts:/);
  expect(sandbox.snapshot().users).toEqual([]);
});

test("a session shows only pages of its own user, and takes no empty credentials", async () => {
  const sandbox = await sandboxFor();
  const { accounts } = await sandbox.createUsers(1);
  const session = await register(sandbox);
  const others = `${session}/accounts/${accounts[0]}`;
  for (const path of [others, "/connect/nobody", "/connect/a/b/c/d", `/connect/nobody${paylane}`]) {
    const { status, page } = await visit(sandbox, path);
    expect([404, 410], path).toContain(status);
    expect(page).toContain("This page is not here");
  }
  const { status } = await visit(sandbox, `${session}${paylane}`, { username: "", password: "" });
  expect(status).toBe(422);
  expect(sandbox.snapshot().accounts).toHaveLength(accounts.length);
});

test("a new account is not connected, and its data can't be fetched yet", async () => {
  const sandbox = await sandboxFor({ signInDurationMs: 60_000 });
  const session = await register(sandbox);
  await visit(sandbox, `${session}${paylane}`, credentials);
  const [account] = sandbox.snapshot().accounts;
  const path = `/api/v0.4/accounts/${account?.id}`;
  const start = () => call(sandbox, `${path}/fetches`, { method: "POST", json: { endpoints: ["income"] } });
  expect((await call(sandbox, path)).body).toMatchObject({ connected: false });
  expect((await start()).status).toBe(409);
  await sandbox.advance(61);
  expect((await call(sandbox, path)).body).toMatchObject({ connected: true });
  expect((await start()).status).toBe(202);
});

test("the connection flow of 0.5 says why a connection failed, and a second try connects the same account", async () => {
  const { url, received } = await startReceiver();
  const sandbox = await sandboxFor({ interface: "0.5" });
  const json = { url, method: "POST", enabled: true };
  await call(sandbox, "/api/v0.5/webhooks/sandbox-connect-events", { method: "PUT", json });
  const { body } = await call(sandbox, "/api/v0.5/users", { method: "POST", json: {} });
  const { id, link } = Object(body);
  const pages: string[] = [];
  for (const username of ["test-locked", "test-user"]) {
    const path = `${new URL(link).pathname}${paylane}`;
    const { location } = await visit(sandbox, path, { ...credentials, username });
    await sandbox.waitUntilIdle();
    pages.push((await visit(sandbox, location)).page);
  }
  const about = { user_id: id, datasource_id: paylane.split("/").at(-1) };
  const timestamp = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z$/);
  expect(received.map(jsonOf)).toMatchObject([
    { ...about, connection_status: "failed", status_description: expect.stringContaining("locked") },
    { ...about, connection_status: "connected", timestamp },
  ]);
  expect(pages[0]).toContain("The platform has locked this account");
  expect(pages[1]).toContain("Connected to Paylane");
  expect(sandbox.snapshot().accounts.map(({ connected }) => connected)).toEqual([true]);
});

test("an account alert that was chosen before a restart is chosen after it", async () => {
  const { url, received } = await startReceiver();
  const directory = await directoryForTest();
  const first = await startSandbox({ directory });
  await registerAll(first, url);
  const { location } = await visit(first, "/connect?account_alert=false", { name: "Ada" });
  await first.waitUntilIdle();
  await first.close();
  const second = await sandboxFor({ directory });
  await visit(second, `${location}${paylane}`, credentials);
  await second.waitUntilIdle();
  const announced = received.map(jsonOf).map(({ event, action }) => event ?? action);
  expect(announced).toEqual(["create_user", "update_account"]);
});

test("visits of the flow are no calls, for their addresses are credentials", async () => {
  const sandbox = await sandboxFor();
  await register(sandbox);
  await call(sandbox, "/api/v0.4/users");
  expect(sandbox.calls()).toHaveLength(1);
});

test("datasources are searched, in three categories", async () => {
  const sandbox = await sandboxFor();
  const session = await register(sandbox);
  const all = await visit(sandbox, session);
  for (const text of ["Payroll", "Driving and delivery", "Freelance", "8 platforms"]) {
    expect(all.page).toContain(text);
  }
  const found = await visit(sandbox, `${session}?q=INKWELL`);
  expect(found.page).toContain("1 platform<");
  expect(found.page).toContain("Inkwell Freelance");
  expect(found.page).not.toContain("Paylane");
  expect((await visit(sandbox, `${session}?q=zzz`)).page).toContain("No platform has this name");
});

test("pages show markup in every name as text, are kept by nobody, and let in no foreign script", async () => {
  const markup = `"><img src=x onerror='alert(1)'>&`;
  const escaped = "&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;";
  const id = "5d1f0a4e-6f0b-4c3e-9a53-0b6a1f6d0099";
  const datasources = [{ id, name: markup, category: "payroll" }] as const;
  const sandbox = await sandboxFor({ branding: { name: markup, datasources } });
  const { location } = await visit(sandbox, "/connect", { name: markup });
  const { location: account } = await visit(sandbox, `${location}/datasources/${id}`, {
    username: markup,
    password: markup,
  });
  const search = `${location}?q=${encodeURIComponent(markup)}`;
  for (const path of [location, search, `${location}/datasources/${id}`, account]) {
    const { status, page, headers } = await visit(sandbox, path);
    expect(status).toBe(200);
    expect(page).toContain(escaped);
    expect(page).not.toContain(markup);
    expect(headers.get("content-security-policy")).toMatch(/default-src 'none'.*script-src 'nonce-[\w-]+'/);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  }
  expect((await visit(sandbox, search)).page).toContain(`value="${escaped}"`);
  const progress = await fetch(`${sandbox.baseUrl}${account}/progress`);
  expect(((await progress.json()) as { markup: string }).markup).not.toContain(markup);
});
