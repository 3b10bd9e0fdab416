import { stoppedClock } from "@income-events/sandbox/clock.ts";
import { expect, test } from "vitest";
import { receivingSandbox, registerAll, sandboxFor, startReceiver } from "./support.ts";

const hourMs = 3_600_000;

test("a failed delivery is tried again until it is accepted, and never after", async () => {
  const { sandbox, received } = await receivingSandbox(
    {},
    (_call, index) => [500, 404, 301, 204][index] ?? 200,
  );
  sandbox.fireEvent("users", { a: 1 });
  await sandbox.waitUntilIdle();
  expect(received).toHaveLength(4);
  expect(new Set(received.map(({ body }) => body.toString()))).toEqual(new Set(['{"a":1}']));
  expect(sandbox.deliveries()).toMatchObject([{ status: "delivered", attempts: 4, lastStatus: 204 }]);
});

test("a delivery that meets a network failure is tried again, which can make duplicates", async () => {
  const { sandbox, received } = await receivingSandbox({}, (_call, index) => (index === 0 ? "reset" : 200));
  sandbox.fireEvent("users", { a: 1 });
  await sandbox.waitUntilIdle();
  expect(received.map(({ body }) => body.toString())).toEqual(['{"a":1}', '{"a":1}']);
  expect(sandbox.deliveries()).toMatchObject([{ status: "delivered", attempts: 2 }]);
});

test("an attempt that gets no answer in time has failed", async () => {
  const receiver = await startReceiver((_call, index) => (index === 0 ? "hang" : 200));
  const sandbox = await sandboxFor({ delivery: { timeoutMs: 1_000, firstRetryMs: 1, maxRetryMs: 1 } });
  await registerAll(sandbox, receiver.url);
  sandbox.fireEvent("users", {});
  await sandbox.waitUntilIdle();
  expect(sandbox.deliveries()).toMatchObject([{ status: "delivered" }]);
  expect(sandbox.deliveries()[0]?.attempts).toBeGreaterThan(1);
});

test("events without a webhook are recorded as such, and never sent", async () => {
  const sandbox = await sandboxFor();
  sandbox.fireEvent("users", {});
  await sandbox.waitUntilIdle();
  expect(sandbox.deliveries()).toMatchObject([{ kind: "users", status: "unregistered", attempts: 0 }]);
});

test("retries go on for three days and then the delivery is given up", async () => {
  const clock = stoppedClock(new Date("2026-11-21T10:00:00Z"));
  const { sandbox, received } = await receivingSandbox({ clock, delivery: {} }, () => 500);
  sandbox.fireEvent("users", {});
  await sandbox.quiet();
  for (let hours = 0; hours < 71; hours += 1) {
    clock.advance(hourMs);
    await sandbox.quiet();
  }
  expect(sandbox.deliveries()).toMatchObject([{ status: "pending" }]);
  clock.advance(hourMs);
  await sandbox.waitUntilIdle();
  expect(sandbox.deliveries()).toMatchObject([{ status: "given-up", lastStatus: 500 }]);
  expect(received.length).toBeGreaterThan(70);
  clock.advance(100 * hourMs);
  await sandbox.quiet();
  expect(sandbox.deliveries()).toMatchObject([{ attempts: received.length }]);
});

test("waits between attempts are doubled up to the longest", async () => {
  const clock = stoppedClock(new Date("2026-11-21T10:00:00Z"));
  const { sandbox, received } = await receivingSandbox(
    { clock, delivery: { firstRetryMs: 1000, maxRetryMs: 3000 } },
    () => 503,
  );
  sandbox.fireEvent("users", {});
  const attemptsAfter: number[] = [];
  for (let second = 0; second < 10; second += 1) {
    await sandbox.quiet();
    attemptsAfter.push(received.length);
    clock.advance(1000);
  }
  expect(attemptsAfter).toEqual([1, 2, 2, 3, 3, 3, 4, 4, 4, 5]);
});

test("a slow receiver holds up nobody: deliveries are made side by side, and each event arrives", async () => {
  const { sandbox, received } = await receivingSandbox({}, (_call, index) => (index % 7 === 0 ? 500 : 200));
  for (let index = 0; index < 300; index += 1) sandbox.fireEvent("accounts", { index });
  await sandbox.waitUntilIdle();
  const accepted = new Set(received.map(({ body }) => body.toString()));
  expect(accepted.size).toBe(300);
  expect(sandbox.deliveries().every(({ status }) => status === "delivered")).toBe(true);
});
