import { request } from "node:http";
import { stoppedClock } from "@income-events/sandbox/clock.ts";
import type { Sandbox, SandboxOptions } from "@income-events/sandbox/server.ts";
import { expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { checkAnswer } from "./described.ts";
import { type Answer, call, jsonOf, registerAll, sandboxFor, startReceiver } from "./support.ts";

async function benchFor(options: SandboxOptions = {}) {
  const sandbox = await sandboxFor({ controlPort: 0, ...options });
  const description: unknown = await (await fetch(`${sandbox.control}/openapi.json`)).json();
  const send = async (method: string, path: string, json?: unknown): Promise<Answer> => {
    const response = await fetch(`${sandbox.control}${path}`, {
      method,
      ...(json === undefined
        ? {}
        : { body: JSON.stringify(json), headers: { "content-type": "application/json" } }),
    });
    const body: unknown = await response.json();
    checkAnswer(description, { method, path, status: response.status, body });
    return { status: response.status, headers: response.headers, body };
  };
  return { sandbox, send };
}

const users = (sandbox: Sandbox) => call(sandbox, "/api/v0.4/users");

test("POST /users creates users with connected accounts", async () => {
  const { sandbox, send } = await benchFor();
  const answer = await send("POST", "/users", { count: 3, accountsPerUser: 2, companyAccounts: 1 });
  expect(answer.status).toBe(200);
  const { accounts } = sandbox.snapshot();
  expect(accounts).toHaveLength(7);
  expect(accounts.every(({ connected }) => connected)).toBe(true);
  expect(answer.body).toEqual({
    users: sandbox.snapshot().users.map(({ id }) => id),
    accounts: accounts.filter(({ company }) => !company).map(({ id }) => id),
    companyAccounts: accounts.filter(({ company }) => company).map(({ id }) => id),
  });
});

test("POST /users and POST /accounts choose the account alert", async () => {
  const { url, received } = await startReceiver();
  const { sandbox, send } = await benchFor();
  await registerAll(sandbox, url);
  const { body } = await send("POST", "/users", { count: 1, accountsPerUser: 1, accountAlert: false });
  const [userId] = (body as { users: string[] }).users;
  const create = async (options: object) =>
    ((await send("POST", "/accounts", { userId, ...options })).body as { account: string }).account;
  const accounts = [
    await create({ accountAlert: false, connected: false }),
    await create({ accountAlert: true }),
    await create({ company: true }),
  ];
  await sandbox.settled();
  const told = received.map(jsonOf).filter(({ event }) => event === "create_account");
  expect(told.map((event) => event.account_id)).toEqual([accounts[1]]);
  expect(sandbox.snapshot().accounts.slice(1)).toMatchObject([
    { id: accounts[0], userId, connected: false, company: false },
    { id: accounts[1], userId, connected: true, company: false },
    { id: accounts[2], userId, connected: true, company: true },
  ]);
});

test("POST /users and POST /accounts/{id} drop the events of what they do", async () => {
  const { url, received } = await startReceiver();
  const { sandbox, send } = await benchFor();
  await registerAll(sandbox, url);
  const { body } = await send("POST", "/users", { count: 2, drop: true });
  const [account] = (body as { accounts: string[] }).accounts;
  await send("POST", `/accounts/${account}`, { action: "disconnect", drop: true });
  await sandbox.settled();
  expect(received).toEqual([]);
  expect(sandbox.deliveries({ status: "dropped" })).toHaveLength(7);
  expect(sandbox.snapshot().accounts.map(({ connected }) => connected)).toEqual([false, true]);

  await send("POST", `/accounts/${account}`, { action: "reconnect" });
  await sandbox.settled();
  expect(received.map(jsonOf)).toMatchObject([{ event: "update_account", account_id: account }]);
});

test("POST /accounts/{id} disconnects, reconnects and deletes", async () => {
  const { sandbox, send } = await benchFor();
  const { accounts } = await sandbox.createUsers(1);
  const change = (action: string) => send("POST", `/accounts/${accounts[0]}`, { action });
  const states = [];
  for (const action of ["disconnect", "reconnect", "delete"]) {
    expect((await change(action)).status).toBe(200);
    const [account] = sandbox.snapshot().accounts;
    states.push([account?.connected, account?.deleted]);
  }
  expect(states).toEqual([
    [false, false],
    [true, false],
    [false, true],
  ]);
  expect(await change("reconnect")).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("deleted") },
  });
});

test("POST /accounts/{id}/fetches fetches new data, and tells of each endpoint", async () => {
  const { url, received } = await startReceiver();
  const { sandbox, send } = await benchFor();
  await registerAll(sandbox, url);
  const { accounts } = await sandbox.createUsers(1, { drop: true });
  const endpoints = ["income", "trips"];
  const answer = await send("POST", `/accounts/${accounts[0]}/fetches`, { endpoints });
  await sandbox.settled();
  expect(answer.status).toBe(200);
  expect(received.map(jsonOf).map(({ endpoint }) => endpoint)).toEqual(endpoints);
  expect(sandbox.snapshot().endpoints).toMatchObject(
    endpoints.map((endpoint) => ({ accountId: accounts[0], endpoint, version: 1 })),
  );
});

test("POST /events fires any body, as often as asked", async () => {
  const { url, received } = await startReceiver();
  const { sandbox, send } = await benchFor();
  await registerAll(sandbox, url);
  const answer = await send("POST", "/events", {
    events: [
      { kind: "users", payload: { any: 1 }, times: 2 },
      { kind: "accounts", body: "no JSON" },
      { kind: "endpoints", bodyBase64: "AP8=", headers: { "x-a": "1" } },
      { kind: "users", payload: { never: 1 }, drop: true },
    ],
  });
  expect(answer).toMatchObject({ status: 200, body: { deliveries: ["1", "2", "3", "4", "5"] } });
  await sandbox.settled();
  const bodies = received.map(({ body }) => body.toString("latin1")).sort();
  expect(bodies).toEqual(["\0\xff", "no JSON", '{"any":1}', '{"any":1}'].sort());
  expect(sandbox.deliveries().at(-1)).toMatchObject({ status: "dropped", attempts: 0 });
});

test.each([
  ["given", [0, 1, 2]],
  ["reversed", [2, 1, 0]],
] as const)("POST /events delivers in the order %s", async (order, expected) => {
  const { url, received } = await startReceiver();
  const clock = stoppedClock(new Date("2026-11-21T10:00:00Z"));
  const { sandbox, send } = await benchFor({ clock });
  await registerAll(sandbox, url);
  const events = [0, 1, 2].map((number) => ({ kind: "users", payload: { number } }));
  await send("POST", "/events", { events, order, spacingSeconds: 60 });
  await sandbox.advance(3600);
  expect(received.map((one) => jsonOf(one).number)).toEqual(expected);
});

test("POST /events delivers in another order that is always the same", async () => {
  const orderOf = async () => {
    const { url, received } = await startReceiver();
    const { sandbox, send } = await benchFor({ clock: stoppedClock(new Date("2026-11-21T10:00:00Z")) });
    await registerAll(sandbox, url);
    const events = Array.from({ length: 8 }, (_, number) => ({ kind: "users", payload: { number } }));
    await send("POST", "/events", { events, order: "shuffled" });
    await sandbox.advance(60);
    return received.map((one) => jsonOf(one).number);
  };
  const [first, second] = [await orderOf(), await orderOf()];
  expect(first).toEqual(second);
  expect(first).not.toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(first.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test("POST /events delays", async () => {
  const { url, received } = await startReceiver();
  const clock = stoppedClock(new Date("2026-11-21T10:00:00Z"));
  const { sandbox, send } = await benchFor({ clock });
  await registerAll(sandbox, url);
  await send("POST", "/events", { events: [{ kind: "users", payload: {}, delaySeconds: 100 }] });
  await sandbox.advance(99);
  expect(received).toHaveLength(0);
  await sandbox.advance(1);
  expect(received).toHaveLength(1);
});

test("POST /faults lets calls fail by count or share, DELETE /faults ends it", async () => {
  const { sandbox, send } = await benchFor();
  await send("POST", "/faults", { path: "/users", status: 429, retryAfterSeconds: 3 });
  const limited = await users(sandbox);
  expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "3"]);
  await send("POST", "/faults", { path: "/users", status: 500, share: 0.5 });
  const statuses = [];
  for (let made = 0; made < 6; made += 1) statuses.push((await users(sandbox)).status);
  expect(statuses).toEqual([200, 500, 200, 500, 200, 500]);
  expect((await send("DELETE", "/faults")).status).toBe(200);
  expect([(await users(sandbox)).status, (await users(sandbox)).status]).toEqual([200, 200]);
});

test("a fault can be a redirect, malformed JSON or a body of 50 MB, and each is logged", async () => {
  const { sandbox, send } = await benchFor();
  const get = () =>
    fetch(`${sandbox.baseUrl}/api/v0.4/users`, {
      redirect: "manual",
      headers: { authorization: `Bearer ${sandbox.token}` },
    });
  await send("POST", "/faults", { effect: "redirect" });
  const redirect = await get();
  expect([redirect.status, redirect.headers.get("location")]).toEqual([302, "/elsewhere"]);
  await send("POST", "/faults", { effect: "malformed-json" });
  await expect((await get()).json()).rejects.toThrow(SyntaxError);
  await send("POST", "/faults", { effect: "large-body" });
  const large = await (await get()).arrayBuffer();
  expect(large.byteLength).toBeGreaterThan(50_000_000);
  expect(sandbox.calls().map(({ status }) => status)).toEqual([302, 200, 200]);
});

test.each(["hang", "slow-body"])(
  "a fault can be a %s, which ends when the caller gives up",
  async (effect) => {
    const { sandbox, send } = await benchFor();
    await send("POST", "/faults", { effect });
    const caller = new AbortController();
    const read = async () => {
      const response = await fetch(`${sandbox.baseUrl}/api/v0.4/users`, { signal: caller.signal });
      return response.text();
    };
    const answer = expect(read()).rejects.toThrow("given up");
    await eventually(() => expect(sandbox.calls()).toHaveLength(1));
    caller.abort(new Error("given up"));
    await answer;
    expect(sandbox.calls().map(({ status }) => status)).toEqual([effect === "hang" ? 0 : 200]);
    expect((await users(sandbox)).status).toBe(200);
  },
);

test("POST /clock moves deliveries, tokens and data updates forward", async () => {
  const { url, received } = await startReceiver((_call, index) => (index < 50 ? 500 : 200));
  const { sandbox, send } = await benchFor({ delivery: {} });
  await registerAll(sandbox, url);
  sandbox.fireEvent("users", {});
  const before = Date.now();
  const answer = await send("POST", "/clock", { advanceSeconds: 2.5 * 86_400 });
  expect(answer.status).toBe(200);
  const { now } = answer.body as { now: string };
  expect(Date.parse(now) - before).toBeGreaterThanOrEqual(2.5 * 86_400_000);
  expect(received).toHaveLength(51);
  expect(sandbox.deliveries()).toMatchObject([{ status: "delivered" }]);
  expect((await users(sandbox)).status).toBe(401);
});

test("a clock that can't be moved is said to be one", async () => {
  const fixed = stoppedClock(new Date());
  const { send } = await benchFor({ clock: { now: fixed.now, schedule: fixed.schedule } });
  expect((await send("POST", "/clock", { advanceSeconds: 1 })).status).toBe(409);
});

test.each([
  ["expire", "the token is expired"],
  ["revoke", "the token is revoked"],
])("POST /token can %s every token at once", async (action, message) => {
  const { sandbox, send } = await benchFor();
  expect((await send("POST", "/token", { action })).body).toEqual({ ended: 1 });
  expect(await users(sandbox)).toMatchObject({ status: 401, body: { message } });
  const { token } = (await send("POST", "/token", { action: "issue", remainingSeconds: 60 })).body as {
    token: string;
  };
  const headers = { authorization: `Bearer ${token}` };
  expect((await call(sandbox, "/api/v0.4/users", { headers })).status).toBe(200);
});

test("POST /shape gives events and answers the shape of a template, and takes it back", async () => {
  const { url, received } = await startReceiver();
  const { sandbox, send } = await benchFor();
  await registerAll(sandbox, url);
  await send("POST", "/shape", {
    of: "users",
    template: {
      type: "user",
      who: { ref: "{{data.id}}" },
      text: "user {{data.id}}!",
      none: "{{a.b}}",
      n: [1],
    },
  });
  await send("POST", "/shape", { of: "data-answer", template: { items: "{{data}}" } });
  await send("POST", "/shape", { of: "account-answer", template: { state: "{{connected}}" } });
  const ids = await sandbox.createUsers(1, { companyAccounts: 1, accountsPerUser: 0 });
  await sandbox.settled();
  const [user] = received.filter(({ path }) => path === "/hook/users").map(jsonOf);
  const id = ids.users[0];
  expect(user).toEqual({ type: "user", who: { ref: id }, text: `user ${id}!`, none: null, n: [1] });
  const path = `/api/company/v0.5/company-accounts/${ids.companyAccounts[0]}`;
  const shaped = { asDescribed: false };
  expect((await call(sandbox, path, shaped)).body).toEqual({ state: true });
  expect((await call(sandbox, `${path}/vehicles`, shaped)).body).toEqual({ items: [expect.any(Object)] });
  await send("POST", "/shape", { of: "account-answer" });
  expect((await call(sandbox, path)).body).toMatchObject({ connected: true });
});

test("POST /load makes endpoint events at a rate", async () => {
  const { url, received } = await startReceiver();
  const clock = stoppedClock(new Date("2026-11-21T10:00:00Z"));
  const { sandbox, send } = await benchFor({ clock });
  await registerAll(sandbox, url);
  await sandbox.createUsers(2);
  expect((await send("POST", "/load", { perSecond: 25, seconds: 4 })).status).toBe(200);
  const made = () => received.filter(({ path }) => path === "/hook/endpoints").length;
  await sandbox.advance(1.95);
  expect(made()).toBe(50);
  await sandbox.advance(10);
  expect(made()).toBe(100);
  expect(sandbox.snapshot().endpoints.map(({ version }) => version)).toEqual([50, 50]);
});

test("GET /calls shows every call in pages", async () => {
  const { sandbox, send } = await benchFor();
  for (let made = 0; made < 3; made += 1) await users(sandbox);
  const one = {
    method: "GET",
    path: "/api/v0.4/users",
    status: 200,
    at: expect.any(String),
    authorized: true,
    answer: expect.any(String),
  };
  expect((await send("GET", "/calls")).body).toEqual({ calls: [one, one, one], next: null });
  expect((await send("GET", "/calls?limit=2")).body).toEqual({ calls: [one, one], next: "2" });
  expect((await send("GET", "/calls?limit=2&after=2")).body).toEqual({ calls: [one], next: null });
});

test("GET /deliveries shows the log, and a delivery is sent again", async () => {
  const { url, received } = await startReceiver((_call, index) => (index === 0 ? 403 : 200));
  const { sandbox, send } = await benchFor();
  await registerAll(sandbox, url);
  sandbox.fireEvent("users", { a: 1 }, { maxAttempts: 1 });
  await sandbox.settled();
  sandbox.fireEvent("accounts", { b: 1 });
  await sandbox.settled();
  const given = { id: "1", kind: "users", status: "given-up", attempts: 1, lastStatus: 403 };
  expect((await send("GET", "/deliveries?status=given-up")).body).toMatchObject({ deliveries: [given] });
  expect((await send("GET", "/deliveries?limit=1")).body).toMatchObject({ deliveries: [given], next: "1" });
  expect((await send("GET", "/deliveries?limit=1&after=1")).body).toMatchObject({
    deliveries: [{ id: "2", kind: "accounts" }],
    next: null,
  });
  expect((await send("POST", "/deliveries/1/resend")).status).toBe(200);
  await sandbox.settled();
  expect(received.map(jsonOf)).toEqual([{ a: 1 }, { b: 1 }, { a: 1 }]);
  expect((await send("GET", "/deliveries?kind=users")).body).toMatchObject({
    deliveries: [{ status: "delivered" }],
  });
  expect((await send("POST", "/deliveries/9/resend")).status).toBe(404);
});

test.each([
  ["POST", "/users", {}],
  ["POST", "/users", { count: 0 }],
  ["POST", "/users", { count: "3" }],
  ["POST", "/users", { count: 1, unknown: 1 }],
  ["POST", "/users", { count: 1, environment: "elsewhere" }],
  ["POST", "/events", { events: [] }],
  ["POST", "/events", { events: [{ kind: "nothing", payload: {} }] }],
  ["POST", "/events", { events: [{ kind: "users" }] }],
  ["POST", "/events", { events: [{ kind: "users", payload: {}, body: "" }] }],
  ["POST", "/faults", { status: 200 }],
  ["POST", "/faults", {}],
  ["POST", "/faults", { status: 500, effect: "hang" }],
  ["POST", "/faults", { status: 500, path: "(" }],
  ["POST", "/clock", { advanceSeconds: -1 }],
  ["POST", "/token", { action: "steal" }],
  ["POST", "/shape", { of: "weather" }],
  ["POST", "/load", { perSecond: 0, seconds: 1 }],
  ["POST", "/accounts", { userId: "nobody" }],
  ["POST", "/accounts/nobody", { action: "delete" }],
  ["POST", "/accounts/nobody/fetches", { endpoints: ["income"] }],
  ["POST", "/accounts/nobody/fetches", { endpoints: ["weather"] }],
  ["GET", "/deliveries?status=lost", undefined],
  ["GET", "/calls?limit=many", undefined],
])("%s %s refuses %j clearly", async (method, path, json) => {
  const { send } = await benchFor();
  const { status, body } = await send(method, path, json);
  expect(status).toBe(400);
  expect(body).toEqual({ error: "invalid_request", message: expect.any(String) });
  expect(JSON.stringify(body)).not.toMatch(/\.ts|node_modules/);
});

test("what is asked for an environment that does not run is refused", async () => {
  const { send } = await benchFor();
  const answer = await send("POST", "/users", { count: 1, environment: "production" });
  expect(answer).toMatchObject({ status: 409, body: { error: "not_running" } });
});

test("the control address answers nobody who came by another name", async () => {
  const { sandbox } = await benchFor();
  const status = (headers: Record<string, string>) =>
    new Promise((resolve, reject) => {
      const call = request(`${sandbox.control}/calls`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      call.on("error", reject).end();
    });
  expect(await status({})).toBe(200);
  expect(await status({ host: "attacker.example" })).toBe(403);
  expect(await status({ origin: "https://attacker.example" })).toBe(403);
});

test("no control address is opened unless asked for, and the service's address has none of its paths", async () => {
  const sandbox = await sandboxFor();
  expect(sandbox.control).toBeUndefined();
  for (const path of ["/users", "/events", "/clock", "/calls"]) {
    expect((await call(sandbox, path)).status).toBe(404);
  }
});
