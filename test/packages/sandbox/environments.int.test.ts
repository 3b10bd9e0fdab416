import { expect, test } from "vitest";
import { call, registerAll, sandboxFor, startReceiver } from "./support.ts";

test("sandbox and production run at once, on separate addresses with separate tokens and users", async () => {
  const sandbox = await sandboxFor({ productionPort: 0 });
  const { production } = sandbox;
  if (production === undefined) throw new Error("production does not run");
  expect(production.baseUrl).not.toBe(sandbox.baseUrl);
  for (const [one, other] of [
    [sandbox, production],
    [production, sandbox],
  ] as const) {
    expect((await call(one, "/api/v0.4/users")).status).toBe(200);
    const headers = { authorization: `Bearer ${other.token}` };
    expect(await call(one, "/api/v0.4/users", { headers })).toMatchObject({ status: 401 });
  }
  const made = await sandbox.createUsers(2);
  expect(production.snapshot().users).toEqual([]);
  expect((await production.createUsers(2)).users).not.toEqual(made.users);
});

test("each environment has webhooks of its own", async () => {
  const [one, other] = [await startReceiver(), await startReceiver()];
  const sandbox = await sandboxFor({ productionPort: 0 });
  const { production } = sandbox;
  if (production === undefined) throw new Error("production does not run");
  await registerAll(sandbox, one.url);
  await registerAll(production, other.url);
  await production.createUsers(1);
  await production.waitUntilIdle();
  expect([one.received.length, other.received.length]).toEqual([0, 3]);
});

test("a port in use ends what was started", async () => {
  const { baseUrl } = await sandboxFor();
  const taken = Number(new URL(baseUrl).port);
  await expect(sandboxFor({ productionPort: taken })).rejects.toThrow("EADDRINUSE");
  await expect(sandboxFor({ controlPort: taken })).rejects.toThrow("EADDRINUSE");
});

test("a refresh can end the token that it was called with", async () => {
  const sandbox = await sandboxFor({ refreshEndsToken: true });
  const { body } = await call(sandbox, "/api/v0.4/token/refresh");
  expect(await call(sandbox, "/api/v0.4/users")).toMatchObject({
    status: 401,
    body: { message: "the token is revoked" },
  });
  const headers = { authorization: `Bearer ${(body as { token: string }).token}` };
  expect((await call(sandbox, "/api/v0.4/users", { headers })).status).toBe(200);
});
