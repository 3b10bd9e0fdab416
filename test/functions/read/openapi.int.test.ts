import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type ProblemType, problem } from "../../../domain/read/problem.ts";
import { routeOf } from "../../../domain/read/route.ts";
import { openApi } from "../../../scripts/documents/openapi.ts";

const parameter = z.object({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  schema: z.object({
    pattern: z.string().optional(),
    maxLength: z.number().optional(),
    format: z.string().optional(),
  }),
});
const example = z.object({ value: z.object({ type: z.string(), status: z.number(), title: z.string() }) });
const response = z.object({
  content: z.record(z.string(), z.object({ examples: z.record(z.string(), example).optional() })).optional(),
});
const api = z
  .object({
    paths: z.record(
      z.string(),
      z.object({
        get: z.object({ parameters: z.array(parameter), responses: z.record(z.string(), response) }),
      }),
    ),
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
/** What a parameter's schema, or its description, does not allow. */
const invalid: Readonly<Record<string, string>> = {
  id: "x".repeat(1_025),
  endpoint: "in come",
  range: "today",
  version: "latest",
  asOf: "yesterday",
};

const problemTypes: Readonly<Record<ProblemType, true>> = {
  ...{ "bad-request": true, forbidden: true, "not-found": true, "version-not-kept": true },
  ...{ "method-not-allowed": true, "data-missing": true, failed: true, unavailable: true },
};
const problems = Object.keys(problemTypes)
  .filter(isProblemType)
  .map((type) => problem(type));

function isProblemType(name: string): name is ProblemType {
  return Object.hasOwn(problemTypes, name);
}

function ask(path: string, query: readonly string[], change: Readonly<Record<string, string>> = {}) {
  const values = { ...valid, ...change };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
  const search = new URLSearchParams(query.map((name): [string, string] => [name, values[name] ?? ""]));
  return routeOf("GET", filled, search);
}
const inQuery = ({ in: where }: Parameter) => where === "query";

describe("the OpenAPI document of the read API", () => {
  it.each(operations)("allows only what is understood: $path", ({ path, parameters }) => {
    expect(ask(path, [])).toHaveProperty("of");
    for (const { name } of parameters.filter(inQuery)) expect(ask(path, [name]), name).toHaveProperty("of");
  });

  it.each(operations)(
    "says of each parameter what is refused, by its name: $path",
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

  it.each(operations)(
    "has each answer of the code, with its problem's type and title: $path",
    ({ responses }) => {
      const described = Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.values(content).flatMap(({ examples = {} }) =>
          Object.values(examples).map(({ value }) => ({ status, value })),
        ),
      );
      expect(described).toEqual(
        expect.arrayContaining(problems.map((each) => ({ status: String(each.status), value: each }))),
      );
      expect(described).toHaveLength(problems.length);
    },
  );
});
