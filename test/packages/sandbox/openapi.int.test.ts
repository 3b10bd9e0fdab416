import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, test } from "vitest";
import { sandboxFor } from "./support.ts";

async function problemsOf(description: unknown): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source: JSON.stringify(description), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`);
}

test("the descriptions of the API and of the control address have no lint problem", async () => {
  const sandbox = await sandboxFor({ controlPort: 0 });
  const headers = { authorization: `Bearer ${sandbox.token}` };
  for (const url of [`${sandbox.baseUrl}/api/openapi.json`, `${sandbox.control}/openapi.json`]) {
    const description = await (await fetch(url, { headers })).json();
    expect(description).toMatchObject({ openapi: expect.stringMatching(/^3\.1/), paths: expect.any(Object) });
    expect(await problemsOf(description)).toEqual([]);
  }
});
