import { connect } from "node:net";
import type { Sandbox } from "@income-events/sandbox/server.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyCharacter } from "../../support/any-character.ts";
import { call, sandboxFor, webhookPaths } from "./support.ts";

/** A route with a body, as described by the service or the control API. */
type Route = { readonly method: string; readonly url: string; readonly fields: readonly string[] };

type Operation = {
  requestBody?: { content: { "application/json": { schema: { properties: Record<string, unknown> } } } };
};

/** Every described route with a body: later ones are tested as well. */
async function routesOf(sandbox: Sandbox): Promise<Route[]> {
  const { accounts } = await sandbox.createUsers(1);
  const control: object = JSON.parse(await (await fetch(`${sandbox.control}/openapi.json`)).text());
  const described: [string, object][] = [
    [sandbox.baseUrl, sandbox.openapi()],
    [sandbox.control ?? "", control],
  ];
  return described.flatMap(([base, description]) => {
    const { paths } = description as { paths: Record<string, Record<string, Operation>> };
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { requestBody }]) => {
        if (requestBody === undefined) return [];
        const { properties } = requestBody.content["application/json"].schema;
        const url = base + path.replaceAll(/\{[^}]+\}/g, accounts[0] ?? "");
        return [{ method: method.toUpperCase(), url, fields: Object.keys(properties) }];
      }),
    );
  });
}

async function refusalOf(sandbox: Sandbox, { method, url }: Route, body: string, type = "") {
  const headers = { authorization: `Bearer ${sandbox.token}`, "content-type": type || "application/json" };
  const response = await fetch(url, { method, headers, ...(method !== "GET" && { body }) });
  const text = await response.text();
  const place = `${method} ${url} ${body.slice(0, 80)}`;
  expect(JSON.parse(text), place).toEqual({ error: expect.any(String), message: expect.any(String) });
  expect(text, place).not.toMatch(/node_modules|\.ts:|SQL|constraint|call stack/);
  return { status: response.status, place };
}

const wrongBodies: readonly [string, string, number][] = [
  ["nothing", "", 400],
  ["broken JSON", '{"a":', 400],
  ["null", "null", 400],
  ["a number", "1", 400],
  ["a text", '"text"', 400],
  ["a list", "[]", 400],
  ["an unknown field", '{"unknown":1}', 400],
  ["a poisoned prototype", '{"__proto__":{"a":1}}', 400],
  ["deep JSON", `{"payload":${"[".repeat(200_000)}${"]".repeat(200_000)}}`, 400],
  ["a huge body", JSON.stringify({ text: "x".repeat(1_100_000) }), 413],
];

test("every route refuses an invalid body with a clear error", async () => {
  const sandbox = await sandboxFor({ controlPort: 0 });
  const routes = await routesOf(sandbox);
  expect(routes.length).toBeGreaterThanOrEqual(16);
  for (const [name, body, expected] of wrongBodies)
    for (const route of routes) {
      const { status, place } = await refusalOf(sandbox, route, body);
      expect(status, `${name}: ${place}`).toBe(expected);
    }
});

test("every field of every route refuses values of other types", async () => {
  const sandbox = await sandboxFor({ controlPort: 0 });
  for (const route of await routesOf(sandbox)) {
    // These accept any JSON.
    for (const field of route.fields.filter((name) => name !== "template")) {
      const { status, place } = await refusalOf(sandbox, route, JSON.stringify({ [field]: { no: [null] } }));
      expect(status, place).toBe(400);
    }
  }
});

async function fire(sandbox: Sandbox, ...events: readonly object[]) {
  const route = { method: "POST", url: `${sandbox.control}/events`, fields: [] };
  const full = events.map((event) => ({ kind: "users", payload: {}, ...event }));
  return (await refusalOf(sandbox, route, JSON.stringify({ events: full }))).status;
}

const wrongEvents: readonly [string, object][] = [
  ["a header with a line break", { headers: { a: "1\r\nb: 2" } }],
  ["a header name with a line break", { headers: { "a\nb": "1" } }],
  ["a header of the connection", { headers: { "Content-Length": "1" } }],
  ["a delay without end", { delaySeconds: 1e300 }],
  ["attempts without end", { maxAttempts: 1e300 }],
  ["what is no base64", { payload: undefined, bodyBase64: "%%" }],
];

test("an event that can't be sent as asked is refused, and none is recorded", async () => {
  const sandbox = await sandboxFor({ controlPort: 0 });
  for (const [name, event] of wrongEvents) expect(await fire(sandbox, {}, event), name).toBe(400);
  // More at once than can be queued.
  const many = { times: 10_000 };
  expect(await fire(sandbox, many, many, many)).toBe(400);
  expect(sandbox.deliveries()).toEqual([]);
});

test.each([
  ["no HTTP", "nonsense\r\n\r\n", "400"],
  ["huge headers", `GET / HTTP/1.1\r\nhost: x\r\na: ${"x".repeat(20_000)}\r\n\r\n`, "431"],
])("%s is answered by an error in JSON", async (_name, sent, status) => {
  const sandbox = await sandboxFor();
  const socket = connect(Number(new URL(sandbox.baseUrl).port), "127.0.0.1");
  let answer = "";
  for await (const chunk of socket.end(sent)) answer += String(chunk);
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  expect(head).toContain(` ${status} `);
  expect(JSON.parse(body)).toMatchObject({ error: expect.any(String), message: expect.any(String) });
});

test("no path brings anything but a clear error", async () => {
  const sandbox = await sandboxFor();
  const segments = fc.array(fc.string({ unit: anyCharacter, maxLength: 12 }), { minLength: 1, maxLength: 5 });
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

const wrongRequests: readonly [string, string, string, { body?: string; type?: string }][] = [
  ["a broken percent sign", "GET", "/api/v0.4/accounts/%", {}],
  ["a very long path", "GET", `/api/v0.4/accounts/${"x".repeat(10_000)}`, {}],
  ["a form", "PUT", webhookPaths.users, { body: "a=1", type: "application/x-www-form-urlencoded" }],
  ["text", "PUT", webhookPaths.users, { body: "text", type: "text/plain" }],
  ["NUL", "PUT", webhookPaths.users, { body: "\0" }],
];

test("what is no request of the service is refused clearly, and the sandbox goes on", async () => {
  const sandbox = await sandboxFor();
  for (const [name, method, path, { body = "", type = "" }] of wrongRequests) {
    const route = { method, url: `${sandbox.baseUrl}${path}`, fields: [] };
    const { status } = await refusalOf(sandbox, route, body, type);
    expect(status, name).toBeGreaterThanOrEqual(400);
    expect(status, name).toBeLessThan(500);
    expect((await call(sandbox, "/api/v0.4/users")).status).toBe(200);
  }
});
