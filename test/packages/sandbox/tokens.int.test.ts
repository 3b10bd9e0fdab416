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
