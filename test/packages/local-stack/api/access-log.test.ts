import { accessLogLine } from "@income-events/local-stack/alarms/measure.ts";
import { expect, test } from "vitest";

test("a line has the format of the stage, with what is known of the request", () => {
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
