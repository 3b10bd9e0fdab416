import { expect, it } from "vitest";
import { scanCost } from "../../../domain/recovery/scan-cost.ts";

it("a scan reads 8 KB a unit, rounded up, at 12.5 US cents a million units", () => {
  expect(scanCost({ items: 3, bytes: 8_193 })).toMatchObject({ readUnits: 2 });
  expect(scanCost({ items: 1, bytes: 8_192_000_000 })).toMatchObject({
    readUnits: 1_000_000,
    dollars: 0.125,
  });
});
