import { expect, it } from "vitest";
import { outagesIn, outageText } from "../../../../packages/cli/provider/outages.ts";

const turn = (at: string, code: string, reason?: string) => ({
  ...{ at: `2026-11-27T12:${at}Z`, topic: "breaker" as const, code, by: "fetch/data", counts: {} },
  ...(reason !== undefined && { reason }),
});

it("makes one outage of a breaker that opens, each probe that fails, and the answer that closes it", () => {
  const turns = [
    turn("30:00.000", "PROVIDER_DOWN", "the provider answered 500"),
    turn("20:05.000", "PROVIDER_BACK"),
    turn("15:00.000", "PROVIDER_DOWN", "timeout"),
    turn("10:00.000", "PROVIDER_DOWN", "timeout"),
    turn("08:00.000", "PROVIDER_DOWN", "the provider answered 503"),
    turn("01:00.000", "PROVIDER_BACK"),
  ];
  const now = new Date("2026-11-27T12:31:00.000Z");
  expect(outagesIn(turns).map((outage) => [outage.from, outageText(outage, now)])).toEqual([
    ["2026-11-27T12:30:00.000Z", "down for 1m so far, 1 probe failed: the provider answered 500"],
    ["2026-11-27T12:08:00.000Z", "down for 12m 5s, 3 probes failed: the provider answered 503"],
  ]);
});
