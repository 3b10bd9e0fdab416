import { accessLogLine } from "@income-events/local-stack/alarms/measure.ts";
import { createThrottle, matchRoute } from "@income-events/local-stack/api/routes.ts";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";

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

describe("the throttle of a route", () => {
  it("is that of the route alone, by its own settings", () => {
    const routes = { $default: { ratePerSecond: 1, burst: 1 } };
    const isLet = createThrottle({ ratePerSecond: 10, burst: 3, routes }, () => 0);
    const times = (key: string) => [1, 2, 3, 4].map(() => isLet(key));
    expect(times("$default")).toEqual([true, false, false, false]);
    expect(times("ANY /webhooks/users")).toEqual([true, true, true, false]);
  });

  it("lets a burst through at once, then its rate", () => {
    let time = 0;
    const isLet = createThrottle({ ratePerSecond: 10, burst: 3 }, () => time);
    expect([1, 2, 3, 4].map(() => isLet("POST /a"))).toEqual([true, true, true, false]);
    time = 100;
    expect([isLet("POST /a"), isLet("POST /a")]).toEqual([true, false]);
    time = 60_000;
    expect([1, 2, 3, 4].map(() => isLet("POST /a"))).toEqual([true, true, true, false]);
  });

  it("never lets through more than the burst and the rate of the time that has passed", () => {
    const waits = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 200 });
    fc.assert(
      fc.property(
        waits,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 20 }),
        (steps, rate, burst) => {
          let time = 0;
          const isLet = createThrottle({ ratePerSecond: rate, burst }, () => time);
          const passed = steps.filter((step) => {
            time += step;
            return isLet("POST /a");
          });
          expect(passed.length).toBeLessThanOrEqual(burst + (time / 1000) * rate + 1e-6);
        },
      ),
    );
  });
});

test("a line has the stage's format, with the request's values", () => {
  const format = '{"route":"$context.routeKey","status":"$context.status","ip":"$context.identity.sourceIp"}';
  expect(accessLogLine(format, { route: "POST /webhooks/users", status: 429, time: 0 })).toBe(
    '{"route":"POST /webhooks/users","status":"429","ip":"-"}',
  );
  expect(
    accessLogLine("$context.routeKey at $context.requestTimeEpoch", {
      route: undefined,
      status: 404,
      time: 7,
    }),
  ).toBe("- at 7");
});
