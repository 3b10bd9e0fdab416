import { stoppedClock } from "@income-events/sandbox/clock.ts";
import { decodeJwt, SignJWT } from "jose";
import { expect, test } from "vitest";
import { call, sandboxFor } from "./support.ts";

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

const protectedCalls = [
  ["GET", "/api/v0.4/users"],
  ["GET", "/api/v0.4/users/1"],
  ["GET", "/api/v0.4/token/refresh"],
  ["GET", "/api/v0.3/token/refresh"],
  ["PUT", "/api/v0.3/webhooks/users"],
  ["PUT", "/api/v0.3/webhooks/accounts"],
  ["PUT", "/api/v0.3/webhooks/endpoints"],
  ["PUT", "/api/company/v0.5/webhooks/accounts"],
  ["GET", "/api/v0.4/accounts/1"],
  ["GET", "/api/v0.4/accounts/1/profile"],
  ["POST", "/api/v0.4/accounts/1/fetches"],
  ["GET", "/api/company/v0.5/company-accounts/1"],
  ["GET", "/api/company/v0.5/company-accounts/1/income"],
  ["GET", "/nowhere"],
] as const;

test.each(protectedCalls)("%s %s answers 401 without a valid token", async (method, path) => {
  const clock = stoppedClock(new Date("2026-11-21T10:00:00Z"));
  const sandbox = await sandboxFor({ clock, productionPort: 0 });
  const expired = await sandbox.issueToken(1);
  clock.advance(1000);
  const forged = await new SignJWT(decodeJwt(sandbox.token))
    .setProtectedHeader({ alg: "HS256" })
    .sign(new Uint8Array(32));
  const unsigned = `${sandbox.token.split(".").slice(0, 2).join(".")}.`;
  const wrong = [
    {},
    ...["Bearer", "Bearer x", `Basic ${sandbox.token}`].map((authorization) => ({ authorization })),
    ...[forged, unsigned, expired, sandbox.production?.token].map((token) => ({
      authorization: `Bearer ${token}`,
    })),
  ];
  for (const headers of wrong) {
    const answer = await call(sandbox, path, { method, headers });
    expect(answer).toMatchObject({ status: 401, body: { error: "unauthorized" } });
  }
  expect(sandbox.calls()).toHaveLength(wrong.length);
  expect(sandbox.calls().every(({ authorized, status }) => !authorized && status === 401)).toBe(true);
});

test("there is no described path that needs no token, in either environment", async () => {
  const sandbox = await sandboxFor({ productionPort: 0 });
  const { paths } = sandbox.openapi() as { paths: Record<string, object> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), path.replaceAll(/\{[^}]+\}/g, "1")] as const),
  );
  expect(operations.length).toBeGreaterThanOrEqual(17);
  for (const [method, path] of operations) {
    for (const environment of [sandbox, sandbox.production ?? sandbox]) {
      const { status } = await call(environment, path, { method, headers: {} });
      expect(status, `${method} ${path}`).toBe(401);
    }
  }
});

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

test("another sandbox's token is refused", async () => {
  const [one, other] = [await sandboxFor(), await sandboxFor()];
  const headers = { authorization: `Bearer ${other.token}` };
  expect((await call(one, "/api/v0.4/users", { headers })).status).toBe(401);
});
