import { matchRoute } from "@income-events/local-stack/api/routes.ts";
import { describe, expect, test } from "vitest";

const keys = [
  "$default",
  "ANY /webhooks/users",
  "POST /webhooks/users",
  "GET /webhooks/{kind}",
  "GET /webhooks/{rest+}",
  "GET /",
];

function match(method: string, path: string, routes: readonly string[] = keys) {
  const plans = routes.map((key) => ({ logicalId: key, key, function: "F", timeoutMilliseconds: 1 }));
  const found = matchRoute(plans, method, path);
  return found && [found.plan.key, found.parameters];
}

describe("routing", () => {
  test.each([
    ["the method before ANY", "POST", "/webhooks/users", ["POST /webhooks/users", {}]],
    ["ANY for other methods", "PUT", "/webhooks/users", ["ANY /webhooks/users", {}]],
    ["an exact path before parameters", "GET", "/webhooks/users", ["ANY /webhooks/users", {}]],
    ["a parameter, decoded", "GET", "/webhooks/a%20b", ["GET /webhooks/{kind}", { kind: "a b" }]],
    ["a greedy parameter", "GET", "/webhooks/a/b", ["GET /webhooks/{rest+}", { rest: "a/b" }]],
    ["the root", "GET", "/", ["GET /", {}]],
    ["$default for what no other route takes", "DELETE", "/x", ["$default", {}]],
    ["a path with a slash at its end as another path", "POST", "/webhooks/users/", ["$default", {}]],
    ["upper and lower case as different", "POST", "/Webhooks/users", ["$default", {}]],
  ])("takes %s", (_, method, path, expected) => {
    expect(match(method, path)).toEqual(expected);
  });

  test("finds nothing without $default", () => {
    expect(match("POST", "/webhooks/other", keys.slice(1))).toBeUndefined();
  });
});
