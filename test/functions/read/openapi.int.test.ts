import { describe, expect, it } from "vitest";
import { z } from "zod";
import { routeOf } from "../../../domain/read/route.ts";
import { openApi } from "../../../scripts/documents/openapi.ts";

const parameter = z.object({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
});
const api = z
  .object({
    paths: z.record(z.string(), z.object({ get: z.object({ parameters: z.array(parameter) }) })),
  })
  .parse(JSON.parse(openApi()));

type Parameter = z.output<typeof parameter>;
const operations = Object.entries(api.paths).map(([path, { get }]) => ({ path, ...get }));

const valid: Readonly<Record<string, string>> = {
  id: "a",
  endpoint: "income",
  range: "2026-01-01..2026-01-31",
  version: "1790000000000",
  asOf: "2026-10-01T00:00:00Z",
};
/** Values that a parameter's schema or description forbids. */
const invalid: Readonly<Record<string, string>> = {
  id: "x".repeat(1_025),
  endpoint: "in come",
  range: "today",
  version: "latest",
  asOf: "yesterday",
};

function ask(path: string, query: readonly string[], change: Readonly<Record<string, string>> = {}) {
  const values = { ...valid, ...change };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
  const search = new URLSearchParams(query.map((name): [string, string] => [name, values[name] ?? ""]));
  return routeOf("GET", filled, search);
}
const inQuery = ({ in: where }: Parameter) => where === "query";

describe("the OpenAPI document of the read API", () => {
  it.each(operations)("allows only what is understood: $path", ({ path, parameters }) => {
    expect(ask(path, [])).toHaveProperty("type");
    for (const { name } of parameters.filter(inQuery)) expect(ask(path, [name]), name).toHaveProperty("type");
  });

  it.each(operations)(
    "describes for each parameter what is refused, by its name: $path",
    ({ path, parameters }) => {
      for (const { name, in: where } of parameters.filter((each) => each.in !== "header"))
        expect(
          ask(path, where === "query" ? [name] : [], { [name]: invalid[name] ?? "" }),
          name,
        ).toMatchObject({
          status: 400,
          field: name,
        });
    },
  );
});
