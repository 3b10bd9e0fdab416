import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ReadStack, shortfallsOf, startReadStack } from "../../proof/read/measure.ts";
import { fastEngine } from "../support/engines.ts";

describe("npm run proof -- read", () => {
  let stack: ReadStack;
  beforeAll(async () => {
    stack = await startReadStack(await fastEngine());
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());

  it("counts one invocation, one request, two read units at most and no write for a small document", async () => {
    const small = await stack.measureSmall(20);
    expect(shortfallsOf(small)).toEqual([]);
    expect(small).toMatchObject({ reads: 20, invocations: 20, requests: 20, writeUnits: 0 });
    expect(small.readUnits).toBeGreaterThanOrEqual(20);
  });

  it.each(["identity", "gzip"] as const)(
    "streams 200 MB whole within the memory of the function, as %s",
    async (coding) => {
      const large = await stack.measureLarge(200_000_000, coding);
      expect(shortfallsOf(large)).toEqual([]);
      expect(large.memoryMb).toBe(512);
    },
  );

  it("tells what is over what a read may take", () => {
    const small = { reads: 2, invocations: 3, requests: 4, readUnits: 5, writeUnits: 1 };
    expect(shortfallsOf({ ...small, readMillis: 1, getItemMillis: 1 })).toHaveLength(4);
    const large = { bytes: 1, isWhole: false, maxResidentBytes: 2 ** 20 + 1, memoryMb: 1 };
    expect(shortfallsOf(large)).toHaveLength(2);
  });
});
