import { describe, expect, it } from "vitest";
import { CountdownLatch } from "../../../functions/fetch/fetcher.ts";

const hour = 3_600_000;

/** Callers of one latch, and the released ones in order. */
function latchOf(count: number) {
  const released: number[] = [];
  const latch = new CountdownLatch(Array.from({ length: count }, (_, caller) => caller));
  const wait = (caller: number, maxMillis = hour) =>
    latch.wait(caller, maxMillis).then(() => released.push(caller));
  return { released, wait, countDown: (caller: number) => latch.countDown(caller) };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a countdown latch", () => {
  it("holds callers until all of them wait", async () => {
    const { released, wait } = latchOf(3);
    const early = [wait(2), wait(0)];
    await turn();
    expect(released).toEqual([]);
    await Promise.all([...early, wait(1)]);
    expect(released).toEqual([2, 0, 1]);
  });

  it("does not wait for a caller that counted down", async () => {
    const { released, wait, countDown } = latchOf(2);
    const held = wait(0);
    countDown(1);
    await held;
    expect(released).toEqual([0]);
  });

  it("does not hold a single caller", async () => {
    const { released, wait } = latchOf(1);
    await wait(0);
    expect(released).toEqual([0]);
  });

  it("holds callers for the maximum time only; a slower one then waits for nobody", async () => {
    const { released, wait } = latchOf(3);
    await Promise.all([wait(0, 0), wait(1, 0)]);
    expect(released).toEqual([0, 1]);
    await wait(2);
    expect(released).toEqual([0, 1, 2]);
  });
});
