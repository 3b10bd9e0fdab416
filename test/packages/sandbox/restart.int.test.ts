import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSandbox } from "@income-events/sandbox/server.ts";
import { expect, onTestFinished, test } from "vitest";
import { call, jsonOf, registerAll, sandboxFor, startReceiver } from "./support.ts";

const dayInSeconds = 86_400;

async function directoryForTest(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "sandbox-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

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

test("one that fails for four days leaves each event recorded as given up", async () => {
  const { url } = await startReceiver(() => 503);
  const sandbox = await sandboxFor({ delivery: {} });
  await registerAll(sandbox, url);
  await sandbox.createUsers(5);
  await sandbox.advance(4 * dayInSeconds);
  expect(sandbox.deliveries().map(({ status }) => status)).toEqual(Array(15).fill("given-up"));
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

test("an account alert that was chosen before a restart is chosen after it", async () => {
  const { url, received } = await startReceiver();
  const directory = await directoryForTest();
  const post = async (address: string, form: Record<string, string>) => {
    const response = await fetch(address, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams(form),
    });
    return response.headers.get("location") ?? "";
  };
  const first = await startSandbox({ directory });
  await registerAll(first, url);
  const session = await post(`${first.baseUrl}/connect?account_alert=false`, { name: "Ada" });
  await first.waitUntilIdle();
  await first.close();
  const second = await sandboxFor({ directory });
  const paylane = "datasources/5d1f0a4e-6f0b-4c3e-9a53-0b6a1f6d0001";
  const credentials = { username: "test-user", password: "test-password" };
  await post(`${second.baseUrl}${session}/${paylane}`, credentials);
  await second.waitUntilIdle();
  const announced = received.map(jsonOf).map(({ event, action }) => event ?? action);
  expect(announced).toEqual(["create_user", "update_account"]);
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
