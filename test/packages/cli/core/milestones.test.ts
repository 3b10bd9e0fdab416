import { expect, it } from "vitest";
import { milestones } from "../../../../packages/cli/core/pace.ts";

it("a growing count is reported once for each multiple that it passes", () => {
  const reported: number[] = [];
  const reach = milestones(100, (count) => reported.push(count));
  for (const count of [0, 99, 100, 150, 199, 305, 306, 400]) reach(count);
  expect(reported).toEqual([100, 305, 400]);
});
