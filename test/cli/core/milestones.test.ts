import { expect, it } from "vitest";
import { milestones } from "../../../cli/core/milestones.ts";

it("a growing count is told once for each multiple that it passes", () => {
  const told: number[] = [];
  const reach = milestones(100, (count) => told.push(count));
  for (const count of [0, 99, 100, 150, 199, 305, 306, 400]) reach(count);
  expect(told).toEqual([100, 305, 400]);
});
