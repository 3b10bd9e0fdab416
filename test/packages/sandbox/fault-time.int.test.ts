import { createFaults } from "@income-events/sandbox/api/faults.ts";
import { expect, test } from "vitest";

test("a fault that lasts a time meets every call until it is over, and none afterwards", () => {
  let now = 0;
  const faults = createFaults(() => now);
  faults.add({ status: 503, forSeconds: 120 });
  for (now of [0, 60_000, 119_999]) expect(faults.take("GET", "/users")?.status).toBe(503);
  now = 120_000;
  expect(faults.take("GET", "/users")).toBeUndefined();
});

test("a fault lasts more than no time", () => {
  expect(() => createFaults().add({ status: 503, forSeconds: 0 })).toThrow("more than 0 seconds");
});
