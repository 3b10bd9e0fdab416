import type { Sandbox } from "@income-events/sandbox/server.ts";
import { expect, test } from "vitest";
import { benchFor, call, jsonOf, receivingBench } from "./support.ts";

const users = (sandbox: Sandbox) => call(sandbox, "/api/v0.4/users");

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

test("POST /clock moves deliveries, tokens and data updates forward", async () => {
  const { sandbox, send, received } = await receivingBench({ delivery: {} }, (_call, index) =>
    index < 50 ? 500 : 200,
  );
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

test("POST /shape changes the shape of events and answers by a template, and restores it", async () => {
  const { sandbox, send, received } = await receivingBench();
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
  await sandbox.waitUntilIdle();
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
  const { sandbox, send, received } = await receivingBench({}, (_call, index) => (index === 0 ? 403 : 200));
  sandbox.fireEvent("users", { a: 1 }, { maxAttempts: 1 });
  await sandbox.waitUntilIdle();
  sandbox.fireEvent("accounts", { b: 1 });
  await sandbox.waitUntilIdle();
  const given = { id: "1", kind: "users", status: "given-up", attempts: 1, lastStatus: 403 };
  expect((await send("GET", "/deliveries?status=given-up")).body).toMatchObject({ deliveries: [given] });
  expect((await send("GET", "/deliveries?limit=1")).body).toMatchObject({ deliveries: [given], next: "1" });
  expect((await send("GET", "/deliveries?limit=1&after=1")).body).toMatchObject({
    deliveries: [{ id: "2", kind: "accounts" }],
    next: null,
  });
  expect((await send("POST", "/deliveries/1/resend")).status).toBe(200);
  await sandbox.waitUntilIdle();
  expect(received.map(jsonOf)).toEqual([{ a: 1 }, { b: 1 }, { a: 1 }]);
  expect((await send("GET", "/deliveries?kind=users")).body).toMatchObject({
    deliveries: [{ status: "delivered" }],
  });
  expect((await send("POST", "/deliveries/9/resend")).status).toBe(404);
});

const wrongRequests: readonly [string, string, unknown][] = [
  ["POST", "/users", { count: 0 }],
  ["POST", "/users", { count: 1, environment: "elsewhere" }],
  ["POST", "/events", { events: [] }],
  ["POST", "/events", { events: [{ kind: "users" }] }],
  ["POST", "/events", { events: [{ kind: "users", payload: {}, body: "" }] }],
  ["POST", "/faults", {}],
  ["POST", "/faults", { status: 500, effect: "hang" }],
  ["POST", "/clock", { advanceSeconds: -1 }],
  ["POST", "/token", { action: "steal" }],
  ["POST", "/shape", { of: "weather" }],
  ["POST", "/accounts", { userId: "nobody" }],
  ["POST", "/accounts/nobody", { action: "delete" }],
  ["POST", "/accounts/nobody/fetches", { endpoints: ["weather"] }],
  ["GET", "/deliveries?status=lost", undefined],
  ["GET", "/calls?limit=many", undefined],
];

test("what a route can't do is refused clearly", async () => {
  const { send } = await benchFor();
  for (const [method, path, json] of wrongRequests) {
    const { status, body } = await send(method, path, json);
    const request = `${method} ${path} ${JSON.stringify(json)}`;
    expect([status, body], request).toEqual([
      400,
      { error: "invalid_request", message: expect.not.stringMatching(/\.ts|node_modules/) },
    ]);
  }
});
