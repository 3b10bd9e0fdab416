import { describe, expect, it } from "vitest";
import { workload } from "../../../proof/bench/workload.ts";

describe("the load of a benchmark", () => {
  const shape = { seed: 7, events: 200, duplicates: 0.3 };

  it("is the same again for the same seed, and another for another", () => {
    expect(workload(shape)).toEqual(workload(shape));
    expect(workload({ ...shape, seed: 8 })).not.toEqual(workload(shape));
  });

  it.each([0, 0.3, 0.9])("has its share of duplicates, each after the first delivery: %d", (duplicates) => {
    const bodies = workload({ ...shape, duplicates }).map(({ body }) => body);
    expect(new Set(bodies).size).toBe(200);
    expect(1 - 200 / bodies.length).toBeCloseTo(duplicates, 2);
  });

  it("registers one user, connects one account and announces seven endpoints in ten events", () => {
    const kinds = workload({ ...shape, duplicates: 0 }).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "users")).toHaveLength(20);
    expect(kinds.filter((kind) => kind === "accounts")).toHaveLength(40);
    expect(kinds.filter((kind) => kind === "endpoints")).toHaveLength(140);
  });
});
