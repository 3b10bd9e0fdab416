import { request } from "node:http";
import { stoppedClock } from "@income-events/sandbox/clock.ts";
import { expect, test } from "vitest";
import { benchFor, call, jsonOf, receivingBench, sandboxFor } from "./support.ts";

test("POST /users gives users metadata, and POST /users/{id} replaces it", async () => {
  const { sandbox, send, received } = await receivingBench();
  const { body } = await send("POST", "/users", { count: 1, accountsPerUser: 0, metadata: { loan_id: "A" } });
  const [id] = (body as { users: string[] }).users;
  await sandbox.waitUntilIdle();
  await send("POST", `/users/${id}`, { metadata: { loan_id: "B" } });
  await send("POST", `/users/${id}`, { metadata: { loan_id: "C" }, drop: true });
  await sandbox.waitUntilIdle();
  expect(received.map(jsonOf)).toMatchObject([
    { action: "create_user", data: { metadata: { loan_id: "A" } } },
    { action: "update_user", data: { metadata: { loan_id: "B" } } },
  ]);
  expect(await call(sandbox, `/api/v0.4/users/${id}`)).toMatchObject({
    body: { metadata: { loan_id: "C" } },
  });
});

test("POST /users and POST /accounts choose the account alert", async () => {
  const { sandbox, send, received } = await receivingBench();
  const { body } = await send("POST", "/users", { count: 1, accountsPerUser: 1, accountAlert: false });
  const [userId] = (body as { users: string[] }).users;
  const create = async (options: object) =>
    ((await send("POST", "/accounts", { userId, ...options })).body as { account: string }).account;
  const accounts = [
    await create({ accountAlert: false, connected: false }),
    await create({ accountAlert: true }),
    await create({ company: true }),
  ];
  await sandbox.waitUntilIdle();
  const announced = received.map(jsonOf).filter(({ event }) => event === "create_account");
  expect(announced.map((event) => event.account_id)).toEqual([accounts[1]]);
  expect(sandbox.snapshot().accounts.slice(1)).toMatchObject([
    { id: accounts[0], userId, connected: false, company: false },
    { id: accounts[1], userId, connected: true, company: false },
    { id: accounts[2], userId, connected: true, company: true },
  ]);
});

test("POST /accounts/{id} disconnects, reconnects and deletes, and like POST /users drops events", async () => {
  const { sandbox, send, received } = await receivingBench();
  const { body } = await send("POST", "/users", { count: 2, drop: true });
  const [account] = (body as { accounts: string[] }).accounts;
  await send("POST", `/accounts/${account}`, { action: "disconnect", drop: true });
  await sandbox.waitUntilIdle();
  expect(received).toEqual([]);
  expect(sandbox.deliveries({ status: "dropped" })).toHaveLength(7);
  expect(sandbox.snapshot().accounts.map(({ connected }) => connected)).toEqual([false, true]);

  await send("POST", `/accounts/${account}`, { action: "reconnect" });
  await sandbox.waitUntilIdle();
  expect(received.map(jsonOf)).toMatchObject([{ event: "update_account", account_id: account }]);
  await send("POST", `/accounts/${account}`, { action: "delete" });
  expect(sandbox.snapshot().accounts[0]).toMatchObject({ connected: false, deleted: true });
  expect(await send("POST", `/accounts/${account}`, { action: "reconnect" })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("deleted") },
  });
});

test("POST /accounts/{id}/fetches fetches new data, and announces each endpoint", async () => {
  const { sandbox, send, received } = await receivingBench();
  const { accounts } = await sandbox.createUsers(1, { drop: true });
  const endpoints = ["income", "trips"];
  const answer = await send("POST", `/accounts/${accounts[0]}/fetches`, { endpoints });
  await sandbox.waitUntilIdle();
  expect(answer.status).toBe(200);
  expect(received.map(jsonOf).map(({ endpoint }) => endpoint)).toEqual(endpoints);
  expect(sandbox.snapshot().endpoints).toMatchObject(
    endpoints.map((endpoint) => ({ accountId: accounts[0], endpoint, version: 1 })),
  );
});

test("POST /events fires any body, as often as asked", async () => {
  const { sandbox, send, received } = await receivingBench();
  const answer = await send("POST", "/events", {
    events: [
      { kind: "users", payload: { any: 1 }, times: 2 },
      { kind: "accounts", body: "no JSON" },
      { kind: "endpoints", bodyBase64: "AP8=", headers: { "x-a": "1" } },
      { kind: "users", payload: { never: 1 }, drop: true },
    ],
  });
  expect(answer).toMatchObject({ status: 200, body: { deliveries: ["1", "2", "3", "4", "5"] } });
  await sandbox.waitUntilIdle();
  const bodies = received.map(({ body }) => body.toString("latin1")).sort();
  expect(bodies).toEqual(["\0\xff", "no JSON", '{"any":1}', '{"any":1}'].sort());
  expect(received.find(({ path }) => path === "/hook/endpoints")?.headers["x-a"]).toBe("1");
  expect(sandbox.deliveries().at(-1)).toMatchObject({ status: "dropped", attempts: 0 });
});

test("POST /events delays, and delivers in order with a spacing", async () => {
  const { sandbox, send, received } = await receivingBench({
    clock: stoppedClock(new Date("2026-11-21T10:00:00Z")),
  });
  const events = [0, 1, 2, 3, 4, 5].map((number) => ({ kind: "users", payload: { number } }));
  const first = { ...events[0], delaySeconds: 100 };
  await send("POST", "/events", { events: [first, ...events.slice(1)], spacingSeconds: 200 });
  await sandbox.advance(99);
  expect(received).toHaveLength(0);
  await sandbox.advance(1);
  expect(received).toHaveLength(1);
  await sandbox.advance(3600);
  expect(received.map((one) => jsonOf(one).number)).toEqual([0, 1, 2, 3, 4, 5]);
});

test("a request for an environment that does not run is refused", async () => {
  const { send } = await benchFor();
  const answer = await send("POST", "/users", { count: 1, environment: "production" });
  expect(answer).toMatchObject({ status: 409, body: { error: "not_running" } });
});

test("the control address answers programs and its own pages, and no page of another name, site or port", async () => {
  const { sandbox } = await benchFor();
  const own = String(sandbox.control);
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
  expect(await status({ origin: own, "sec-fetch-site": "same-origin" })).toBe(200);
  // Typed into the browser's address bar.
  expect(await status({ "sec-fetch-site": "none" })).toBe(200);
  for (const origin of ["https://attacker.example", "http://127.0.0.1:1", "http://localhost", "null"])
    expect(await status({ origin }), origin).toBe(403);
  // Browsers treat other ports of this machine as the same site.
  for (const site of ["same-site", "cross-site"])
    expect(await status({ "sec-fetch-site": site }), site).toBe(403);
});

test("no control address is opened unless asked for, and the service's address has none of its paths", async () => {
  const sandbox = await sandboxFor();
  expect(sandbox.control).toBeUndefined();
  for (const path of ["/users", "/events", "/clock", "/calls"]) {
    expect((await call(sandbox, path)).status).toBe(404);
  }
});
