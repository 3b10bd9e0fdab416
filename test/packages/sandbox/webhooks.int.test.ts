import { createHmac } from "node:crypto";
import { stoppedClock } from "@income-events/sandbox/clock.ts";
import { decodeJwt, SignJWT } from "jose";
import { expect, test } from "vitest";
import { call, jsonOf, sandboxFor, startReceiver, webhookPaths } from "./support.ts";

const valid = { url: "http://127.0.0.1:9/hook", method: "POST", headers: {} };

test.each(Object.entries(webhookPaths))("the webhook for %s gets its events", async (kind, path) => {
  const { url, received } = await startReceiver();
  const sandbox = await sandboxFor();
  const answer = await call(sandbox, path, {
    method: "PUT",
    json: { url, method: "PUT", headers: { "X-Webhook-Secret": "abc", Other: "é" }, secret: "key" },
  });
  expect(answer.status).toBe(200);
  expect(JSON.stringify(answer.body)).not.toContain("abc");
  const all = ["users", "accounts", "endpoints", "company-accounts"] as const;
  for (const each of all) sandbox.fireEvent(each, { announced: each });
  await sandbox.waitUntilIdle();
  expect(received).toHaveLength(1);
  expect(received[0]).toMatchObject({
    method: "PUT",
    path: "/hook",
    headers: {
      "x-webhook-secret": "abc",
      "content-type": "application/json",
      "x-signature": createHmac("sha512", "key").update(`{"announced":"${kind}"}`).digest("base64"),
    },
  });
  expect(received.map(jsonOf)).toEqual([{ announced: kind }]);
});

test("a PUT replaces the webhook as a whole", async () => {
  const first = await startReceiver();
  const second = await startReceiver();
  const sandbox = await sandboxFor();
  const put = (json: object) => call(sandbox, webhookPaths.users, { method: "PUT", json });
  await put({ url: first.url, method: "PUT", headers: { "x-one": "1" } });
  await put({ url: second.url, method: "POST", headers: {} });
  sandbox.fireEvent("users", {});
  await sandbox.waitUntilIdle();
  expect(first.received).toEqual([]);
  expect(second.received).toHaveLength(1);
  expect(second.received[0]?.method).toBe("POST");
  expect(second.received[0]?.headers["x-one"]).toBeUndefined();
});

test.each([
  ["no url", { ...valid, url: undefined }, "url"],
  ["an url that is no text", { ...valid, url: 1 }, "url"],
  ["no address", { ...valid, url: "nowhere" }, "url"],
  ["another protocol", { ...valid, url: "file:///etc/passwd" }, "url"],
  ["a script", { ...valid, url: "javascript:alert(1)" }, "url"],
  ["another method", { ...valid, method: "GET" }, "method"],
  ["a header that is no text", { ...valid, headers: { a: 1 } }, "headers"],
  ["headers in a list", { ...valid, headers: ["a"] }, "headers"],
  ["a line break in a value", { ...valid, headers: { a: "1\r\nb: 2" } }, "headers"],
  ["a line break in a name", { ...valid, headers: { "a\nb": "1" } }, "headers"],
  ["a header of the connection", { ...valid, headers: { "Content-Length": "1" } }, "headers"],
  ["an unknown field", { ...valid, speed: "high" }, "additional"],
  ["a list", [], "object"],
])("%s is refused with an error that names it", async (_name, json, named) => {
  const sandbox = await sandboxFor();
  const answer = await call(sandbox, webhookPaths.accounts, { method: "PUT", json });
  expect(answer).toMatchObject({
    status: 400,
    body: { error: "invalid_request", message: expect.stringContaining(named) },
  });
});

test("a webhook can be read, without the values of its headers", async () => {
  const sandbox = await sandboxFor();
  expect((await call(sandbox, webhookPaths.users)).status).toBe(404);
  await call(sandbox, webhookPaths.users, {
    method: "PUT",
    json: { ...valid, headers: { "x-secret": "abc" } },
  });
  expect(await call(sandbox, webhookPaths.users)).toMatchObject({
    status: 200,
    body: { kind: "users", url: valid.url, method: "POST", header_names: ["x-secret"] },
  });
});

test.each(["/api/v0.4/token/refresh", "/api/v0.3/token/refresh"])(
  "%s gives a new valid token",
  async (path) => {
    const sandbox = await sandboxFor();
    const { status, body } = await call(sandbox, path);
    expect(status).toBe(200);
    expect(body).toEqual({ token: expect.any(String) });
    const { token } = body as { token: string };
    expect(token).not.toBe(sandbox.token);
    const users = await call(sandbox, "/api/v0.4/users", { headers: { authorization: `Bearer ${token}` } });
    expect(users.status).toBe(200);
    expect((await call(sandbox, "/api/v0.4/users")).status, "the old one stays valid").toBe(200);
  },
);

test("a token is valid until its time is over", async () => {
  const clock = stoppedClock(new Date("2026-11-21T10:00:00Z"));
  const sandbox = await sandboxFor({ clock, tokenLifetimeSeconds: 60 });
  clock.advance(59_000);
  expect((await call(sandbox, "/api/v0.4/users")).status).toBe(200);
  clock.advance(1_000);
  expect(await call(sandbox, "/api/v0.4/users")).toMatchObject({
    status: 401,
    body: { message: "the token is expired" },
  });
});

test("the initial token can be old, so that a refresh is due at once", async () => {
  const clock = stoppedClock(new Date("2026-11-21T10:00:00Z"));
  const options = { clock, tokenLifetimeSeconds: 3600, initialTokenRemainingSeconds: 30 };
  const sandbox = await sandboxFor(options);
  const now = clock.now().getTime() / 1000;
  expect(decodeJwt(sandbox.token)).toMatchObject({ exp: now + 30, iat: now - 3570 });
});

test("no path answers without a valid token, in either environment", async () => {
  const clock = stoppedClock(new Date("2026-11-21T10:00:00Z"));
  const sandbox = await sandboxFor({ clock, productionPort: 0 });
  const production = sandbox.production ?? sandbox;
  const { paths } = sandbox.openapi() as { paths: Record<string, object> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), path.replaceAll(/\{[^}]+\}/g, "1")] as const),
  );
  expect(operations.length).toBeGreaterThanOrEqual(17);
  operations.push(["GET", "/nowhere"], ["GET", "/api/openapi.json"]);
  for (const [environment, other] of [
    [sandbox, production],
    [production, sandbox],
  ] as const) {
    const expired = await environment.issueToken(1);
    clock.advance(1000);
    const forged = await new SignJWT(decodeJwt(environment.token))
      .setProtectedHeader({ alg: "HS256" })
      .sign(new Uint8Array(32));
    const unsigned = `${environment.token.split(".").slice(0, 2).join(".")}.`;
    const tokens = [forged, unsigned, expired, other.token, "x"].map((token) => `Bearer ${token}`);
    const wrong = ["Bearer", `Basic ${environment.token}`, ...tokens];
    for (const headers of [{}, ...wrong.map((authorization) => ({ authorization }))]) {
      for (const [method, path] of operations) {
        const answer = await call(environment, path, { method, headers });
        expect(answer, `${method} ${path}`).toMatchObject({ status: 401, body: { error: "unauthorized" } });
      }
    }
    expect(environment.calls()).toHaveLength((wrong.length + 1) * operations.length);
    expect(environment.calls().every(({ authorized, status }) => !authorized && status === 401)).toBe(true);
  }
});
