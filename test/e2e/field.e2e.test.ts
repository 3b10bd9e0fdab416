import { describe, expect, it } from "vitest";
import { runField } from "../../proof/field/run.ts";

describe("inputs that were reported from the field", () => {
  it("are handled as expected on a running stack", async () => {
    const results = await runField();
    expect(results.length).toBeGreaterThan(20);
    expect(results.filter(({ problems }) => problems.length > 0)).toEqual([]);
  });
});
