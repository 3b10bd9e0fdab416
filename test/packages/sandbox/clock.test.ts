import { runningClock, stoppedClock } from "@income-events/sandbox/clock.ts";
import { expect, test } from "vitest";

const start = new Date("2026-11-21T10:00:00Z");
const after = (milliseconds: number) => new Date(start.getTime() + milliseconds);

test("due callbacks run in order of time, simultaneous ones in order of creation, and cancelled ones never", () => {
  const clock = stoppedClock(start);
  const called: string[] = [];
  clock.schedule(after(20), () => called.push("later"));
  clock.schedule(after(10), () => called.push("first"));
  clock.schedule(after(10), () => called.push("second"));
  clock.schedule(after(5), () => called.push("cancelled"))();
  clock.schedule(after(30), () => called.push("not yet"));
  expect(clock.nextDue()).toEqual(after(10));
  clock.advance(20);
  expect(called).toEqual(["first", "second", "later"]);
  expect(clock.nextDue()).toEqual(after(30));
});

test("a running clock calls back in real time, and at once what it is advanced past", async () => {
  const clock = runningClock(3_600_000);
  expect(clock.now().getTime() - Date.now()).toBeGreaterThan(3_599_000);
  const inReal = new Promise<void>((resolve) => {
    clock.schedule(new Date(clock.now().getTime() + 86_400_000), () => undefined);
    clock.schedule(new Date(clock.now().getTime() + 10), resolve);
  });
  // The clock's timer does not keep the process alive, so this one does.
  const alive = setInterval(() => undefined, 1000);
  await inReal;
  clearInterval(alive);
  let called = false;
  clock.schedule(new Date(clock.now().getTime() + 60_000), () => {
    called = true;
  });
  clock.advance(60_000);
  expect(called).toBe(true);
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("a clock is not moved by %d ms", (milliseconds) => {
  expect(() => stoppedClock(start).advance(milliseconds)).toThrow("only goes forward");
});
