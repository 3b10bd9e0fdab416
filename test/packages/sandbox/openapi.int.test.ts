import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, test } from "vitest";
import { call, sandboxFor } from "./support.ts";

async function problemsOf(description: unknown): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source: JSON.stringify(description), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`);
}

test("the API's description is served, with every path of the specification, and has no lint problem", async () => {
  const sandbox = await sandboxFor();
  const response = await fetch(`${sandbox.baseUrl}/api/openapi.json`, {
    headers: { authorization: `Bearer ${sandbox.token}` },
  });
  const description = (await response.json()) as { paths: Record<string, object> };
  const paths = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(paths).toEqual(
    expect.arrayContaining([
      "GET /api/v0.4/users",
      "GET /api/v0.4/token/refresh",
      "GET /api/v0.3/token/refresh",
      "PUT /api/v0.3/webhooks/users",
      "PUT /api/v0.3/webhooks/accounts",
      "PUT /api/v0.3/webhooks/endpoints",
      "PUT /api/company/v0.5/webhooks/accounts",
    ]),
  );
  expect(await problemsOf(description)).toEqual([]);
});

test("the control address is described in the same way", async () => {
  const sandbox = await sandboxFor({ controlPort: 0 });
  const description: unknown = await (await fetch(`${sandbox.control}/openapi.json`)).json();
  expect(JSON.stringify(description)).toContain("/deliveries/{delivery_id}/resend");
  expect(await problemsOf(description)).toEqual([]);
});

test("a description with a mistake has lint problems", async () => {
  const sandbox = await sandboxFor();
  const wrong = { ...sandbox.openapi(), security: [{ unknown: [] }] };
  expect(await problemsOf(wrong)).not.toEqual([]);
});

test("the description needs a token like every path", async () => {
  const sandbox = await sandboxFor();
  expect((await call(sandbox, "/api/openapi.json", { headers: {} })).status).toBe(401);
});
