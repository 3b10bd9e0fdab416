import { stat } from "node:fs/promises";
import { join } from "node:path";
import { startSandbox } from "@income-events/sandbox/server.ts";
import { expect, test } from "vitest";
import { call, directoryForTest, jsonOf, registerAll, sandboxFor, startReceiver } from "./support.ts";

const dayInSeconds = 86_400;

test("a receiver that fails for two days, with a restart in the middle, gets every event", async () => {
  let up = false;
  const { url, received } = await startReceiver(() => (up ? 200 : 503));
  const directory = await directoryForTest();
  const first = await startSandbox({ directory });
  await registerAll(first, url);
  await first.createUsers(5);
  await first.advance(dayInSeconds);
  expect(first.deliveries().every(({ status }) => status === "pending")).toBe(true);
  await first.close();
  const second = await sandboxFor({ directory, delivery: {} });
  await second.advance(dayInSeconds);
  up = true;
  const failed = received.length;
  await second.advance(3600);
  const accepted = received.slice(failed).map(jsonOf);
  expect(accepted).toHaveLength(15);
  expect(new Set(accepted.map((event) => JSON.stringify(event))).size).toBe(15);
  expect(second.deliveries().map(({ status }) => status)).toEqual(Array(15).fill("delivered"));
});

test("a directory that is made for the state, with its tokens, is its owner's alone", async () => {
  const directory = join(await directoryForTest(), "state");
  await sandboxFor({ directory });
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
});

test("users, accounts, data, tokens, webhooks and the clock are as they were after a restart", async () => {
  const { url, received } = await startReceiver();
  const directory = await directoryForTest();
  const first = await startSandbox({ directory });
  await registerAll(first, url);
  const { accounts } = await first.createUsers(2, { companyAccounts: 1 });
  await call(first, `/api/v0.4/accounts/${accounts[0]}/fetches`, {
    method: "POST",
    json: { endpoints: ["income", "profile"] },
  });
  await first.waitUntilIdle();
  first.disconnectAccount(accounts[1] ?? "");
  await first.advance(600);
  const [before, data] = [first.snapshot(), first.data(accounts[0] ?? "", "income")];
  const { token } = first;
  await first.close();
  const second = await sandboxFor({ directory });
  expect(second.snapshot()).toEqual(before);
  expect(second.data(accounts[0] ?? "", "income")).toEqual(data);
  const headers = { authorization: `Bearer ${token}` };
  expect((await call(second, "/api/v0.4/users", { headers })).status).toBe(200);
  const seen = received.length;
  const { users } = await second.createUsers(1);
  await second.waitUntilIdle();
  expect(received.length).toBe(seen + 3);
  expect(before.users.map(({ id }) => id)).not.toContain(users[0]);
  await second.advance(3001);
  expect((await call(second, "/api/v0.4/users", { headers })).status).toBe(401);
});

test("a fetch that a restart interrupts ends afterwards", async () => {
  const directory = await directoryForTest();
  const first = await startSandbox({ directory, fetchDurationMs: 60_000 });
  const { accounts } = await first.createUsers(1);
  await call(first, `/api/v0.4/accounts/${accounts[0]}/fetches`, {
    method: "POST",
    json: { endpoints: ["income"] },
  });
  await first.close();
  const second = await sandboxFor({ directory });
  expect(second.snapshot().endpoints).toEqual([]);
  await second.advance(60);
  expect(second.snapshot().endpoints).toMatchObject([{ endpoint: "income", version: 1 }]);
});

test("a second sandbox in the same directory is refused, for it would deliver everything twice", async () => {
  const directory = await directoryForTest();
  await sandboxFor({ directory });
  await expect(startSandbox({ directory })).rejects.toThrow("end the sandbox that uses it");
});
