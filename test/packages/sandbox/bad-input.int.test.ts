import fc from "fast-check";
import { expect, test } from "vitest";
import { call, sandboxFor, webhookPaths } from "./support.ts";

const routes = [
  ...Object.values(webhookPaths).map((path) => ["PUT", path] as const),
  ["POST", "/api/v0.4/accounts/:id/fetches"] as const,
];

const controlRoutes = [
  "/users",
  "/events",
  "/faults",
  "/clock",
  "/token",
  "/shape",
  "/load",
  "/branding",
  "/accounts/x",
  "/deliveries/x/resend",
];

/** JSON that is none of the requests: a field of a name that no route knows makes sure of it. */
const anyJson = fc.jsonValue().map((value) => ({ unknown_field: value }));

test("no body that is none of a route's brings anything but a clear error", async () => {
  const sandbox = await sandboxFor({ controlPort: 0 });
  const { accounts } = await sandbox.createUsers(1);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...routes), anyJson, async ([method, path], json) => {
      const answer = await call(sandbox, path.replace(":id", accounts[0] ?? ""), { method, json });
      expect(answer).toMatchObject({ status: 400, body: { error: "invalid_request" } });
    }),
    { numRuns: 60 },
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...controlRoutes), anyJson, async (path, json) => {
      const response = await fetch(`${sandbox.control}${path}`, {
        method: "POST",
        body: JSON.stringify(json),
        headers: { "content-type": "application/json" },
      });
      // A resend takes no body: it only finds no such delivery.
      expect([400, 404]).toContain(response.status);
      expect(await response.json()).toEqual({ error: expect.any(String), message: expect.any(String) });
    }),
    { numRuns: 60 },
  );
});

test("no path brings anything but a clear error", async () => {
  const sandbox = await sandboxFor();
  const segments = fc.array(fc.string({ unit: "binary", maxLength: 12 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(segments, async (parts) => {
      const path = `/api/v0.4/accounts/${parts.map((part) => encodeURIComponent(part.toWellFormed())).join("/")}`;
      const { status } = await call(sandbox, path);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
    }),
    { numRuns: 60 },
  );
});

test.each([
  ["a broken percent sign", "GET", "/api/v0.4/accounts/%", { body: undefined, type: undefined }],
  [
    "a very long path",
    "GET",
    `/api/v0.4/accounts/${"x".repeat(10_000)}`,
    { body: undefined, type: undefined },
  ],
  [
    "another content type",
    "PUT",
    webhookPaths.users,
    { body: "a=1", type: "application/x-www-form-urlencoded" },
  ],
  ["text", "PUT", webhookPaths.users, { body: "text", type: "text/plain" }],
  [
    "a body that poisons prototypes",
    "PUT",
    webhookPaths.users,
    { body: '{"__proto__":{"url":"x"}}', type: "application/json" },
  ],
  [
    "deep JSON",
    "PUT",
    webhookPaths.users,
    { body: "[".repeat(100_000) + "]".repeat(100_000), type: "application/json" },
  ],
  ["NUL", "PUT", webhookPaths.users, { body: "\0", type: "application/json" }],
])("%s is refused clearly, and the sandbox goes on", async (_name, method, path, { body, type }) => {
  const sandbox = await sandboxFor();
  const headers = { authorization: `Bearer ${sandbox.token}`, ...(type && { "content-type": type }) };
  const response = await fetch(`${sandbox.baseUrl}${path}`, { method, headers, ...(body && { body }) });
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(response.status).toBeLessThan(500);
  const text = await response.text();
  expect(JSON.parse(text)).toEqual({ error: expect.any(String), message: expect.any(String) });
  expect(text).not.toMatch(/node_modules|\.ts:/);
  expect((await call(sandbox, "/api/v0.4/users")).status).toBe(200);
});
