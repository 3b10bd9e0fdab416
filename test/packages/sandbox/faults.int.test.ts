import { once } from "node:events";
import { request } from "node:http";
import { answerEncodings } from "@income-events/sandbox/api/encodings.ts";
import { createFaults } from "@income-events/sandbox/api/faults.ts";
import { stoppedClock } from "@income-events/sandbox/clock.ts";
import type { RetryAfterForm } from "@income-events/sandbox/provider-interface.ts";
import { expect, test } from "vitest";
import { call, sandboxFor } from "./support.ts";

test("the next calls of a path and method fail as asked, then no more", async () => {
  const sandbox = await sandboxFor();
  const { accounts } = await sandbox.createUsers(1);
  sandbox.fault({ path: "/accounts/[^/]+$", method: "GET", status: 503, times: 2, retryAfterSeconds: 7 });
  const state = () => call(sandbox, `/api/v0.4/accounts/${accounts[0]}`);
  expect((await call(sandbox, "/api/v0.4/users")).status).toBe(200);
  const failed = await state();
  expect(failed.status).toBe(503);
  expect(failed.headers.get("retry-after")).toBe("7");
  expect((await state()).status).toBe(503);
  expect((await state()).status).toBe(200);
});

test.each([
  { status: 200, times: 1 },
  { status: 503, times: 0 },
  { status: 503, times: 1, path: "(" },
  { status: 302, location: "/there" },
  { status: 503, forSeconds: 0 },
  { effect: "hang", location: "/there" } as const,
])("the fault %j is refused", async (fault) => {
  const sandbox = await sandboxFor();
  expect(() => sandbox.fault(fault)).toThrow();
});

test("calls over the rate limit are 429 until the minute is over, with Retry-After in seconds, a date or both in turn, never sooner than the wait", async () => {
  const announced = async (retryAfter: RetryAfterForm) => {
    const clock = stoppedClock(new Date("2026-11-21T10:00:15.400Z"));
    const sandbox = await sandboxFor({ clock, requestsPerMinute: 1, retryAfter });
    const users = () => call(sandbox, "/api/v0.4/users");
    expect((await users()).status).toBe(200);
    const limited = await users();
    expect(limited.status).toBe(429);
    sandbox.fault({ status: 503, retryAfterSeconds: 7 });
    const failed = (await users()).headers.get("retry-after");
    clock.advance(44_600);
    expect((await users()).status).toBe(200);
    return [limited.headers.get("retry-after"), failed];
  };
  const dates = ["Sat, 21 Nov 2026 10:01:01 GMT", "Sat, 21 Nov 2026 10:00:23 GMT"];
  expect(await announced("seconds")).toEqual(["45", "7"]);
  expect(await announced("date")).toEqual(dates);
  expect(await announced("alternating")).toEqual(["45", dates[1]]);
});

test("a call is logged with the time at which it came, however long its body takes", async () => {
  const came = new Date("2026-11-21T10:00:15Z");
  const clock = stoppedClock(came);
  const sandbox = await sandboxFor({ clock });
  const path = "/api/v0.3/webhooks/users";
  const headers = {
    authorization: `Bearer ${sandbox.token}`,
    "content-type": "application/json",
    expect: "100-continue",
  };
  const sent = request(`${sandbox.baseUrl}${path}`, { method: "PUT", headers });
  sent.flushHeaders();
  await once(sent, "continue");
  clock.advance(60_000);
  sent.end("{}");
  const [answer] = await once(sent, "response");
  await once(answer.resume(), "end");
  expect(sandbox.calls()).toMatchObject([{ path, status: 400, at: came }]);
});

test("every call is logged with its answer, and without its token or query", async () => {
  const sandbox = await sandboxFor();
  await call(sandbox, "/api/v0.4/users?limit=7");
  await call(sandbox, "/nowhere", { method: "POST" });
  const refreshed = await call(sandbox, "/api/v0.4/token/refresh");
  const common = { at: expect.any(Date), authorized: true };
  expect(sandbox.calls()).toEqual([
    { ...common, method: "GET", path: "/api/v0.4/users", status: 200, answer: '{"data":[],"next":null}' },
    { ...common, method: "POST", path: "/nowhere", status: 404, answer: expect.stringContaining("error") },
    { ...common, method: "GET", path: "/api/v0.4/token/refresh", status: 200, answer: "" },
  ]);
  expect(refreshed.status).toBe(200);
  expect(JSON.stringify(sandbox.calls())).not.toContain(sandbox.token);
});

test("a fault that lasts a time meets every call until it is over, and none afterwards", () => {
  let now = 0;
  const faults = createFaults(() => now);
  faults.add({ status: 503, forSeconds: 120 });
  for (now of [0, 60_000, 119_999]) expect(faults.take("GET", "/users")?.status).toBe(503);
  now = 120_000;
  expect(faults.take("GET", "/users")).toBeUndefined();
});

const users = "/api/v0.4/users";

function ask({ baseUrl, token }: { readonly baseUrl: string; readonly token: string }, path = users) {
  return fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${token}` } });
}

test.each([202, 204, 206])("a fault can answer %i with a wait", async (status) => {
  const sandbox = await sandboxFor();
  sandbox.fault({ status, retryAfterSeconds: 1.5 });
  const answer = await ask(sandbox);
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([status, "1.5"]);
  expect((await ask(sandbox)).status).toBe(200);
});

test.each([
  ["maintenance", "text/html", /^<!doctype html>/],
  ["empty", "application/json", /^$/],
  ["error-in-body", "application/json", /"code": "PRODUCT_NOT_READY"/],
  ["wrong-charset", "application/json; charset=utf-8", /\uFFFD/],
  ["malformed-json", "application/json", /^\{[^}]*$/],
] as const)("a fault can answer 200 without data: %s", async (effect, type, body) => {
  const sandbox = await sandboxFor();
  sandbox.fault({ effect });
  const answer = await ask(sandbox);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, type]);
  expect(await answer.text()).toMatch(body);
});

test("a fault can redirect to an address or answer 50 MB, and each fault is logged", async () => {
  const sandbox = await sandboxFor();
  const location = "http://169.254.169.254/latest";
  sandbox.fault({ effect: "redirect", location });
  const { status, headers } = await fetch(`${sandbox.baseUrl}${users}`, { redirect: "manual" });
  expect([status, headers.get("location")]).toEqual([302, location]);
  sandbox.fault({ effect: "large-body" });
  expect((await (await ask(sandbox)).arrayBuffer()).byteLength).toBeGreaterThan(50_000_000);
  expect(sandbox.calls().map((one) => one.status)).toEqual([302, 200]);
});

test.each(["cut", "wrong-coding"] as const)("a fault can send an unreadable body: %s", async (effect) => {
  const sandbox = await sandboxFor();
  sandbox.fault({ effect });
  await expect(ask(sandbox).then((answer) => answer.text())).rejects.toThrow();
});

test("a bomb is small until it is decompressed", async () => {
  const sandbox = await sandboxFor();
  sandbox.fault({ effect: "bomb" });
  const headers = { authorization: `Bearer ${sandbox.token}` };
  const sent = await new Promise<number>((resolve, reject) => {
    const asked = request(`${sandbox.baseUrl}${users}`, { headers }, (answer) => {
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.byteLength;
      });
      answer.once("end", () => resolve(bytes));
    });
    asked.once("error", reject).end();
  });
  expect(sent).toBeLessThan(100_000);
});

test.each(answerEncodings)("the true answer is sent in %s", async (effect) => {
  const sandbox = await sandboxFor();
  const { users: ids } = await sandbox.createUsers(1);
  sandbox.shape("user-answer", { id: "{{id}}", name: "José Müller 江" });
  const path = `${users}/${ids[0]}`;
  const plain = await (await ask(sandbox, path)).json();
  sandbox.fault({ effect });
  const answer = await ask(sandbox, path);
  const charset = /charset=(.*)/.exec(answer.headers.get("content-type") ?? "")?.[1];
  const isBigEndian = charset === "utf-16";
  const text = new TextDecoder(isBigEndian ? "utf-16be" : charset).decode(await answer.arrayBuffer());
  expect(JSON.parse(text)).toEqual(plain);
  expect(plain).toMatchObject({ name: "José Müller 江" });
});
