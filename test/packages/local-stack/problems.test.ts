import { type Watch, watchForProblems } from "@income-events/local-stack/problems.ts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const denial = {
  principal: "receive-users",
  action: "sqs:SendMessage",
  resource: "arn",
  reason: "no statement",
};
const minute = 60_000;

describe("while something goes on", () => {
  let denials: (typeof denial)[];
  let watch: Watch;
  beforeEach(() => {
    vi.useFakeTimers();
    denials = [];
    watch = watchForProblems({ problems: () => ({ denials, initErrors: [], failures: [] }) }, minute);
  });
  afterEach(() => {
    watch.stop();
    vi.useRealTimers();
  });

  it("its result is reported", async () => {
    expect(await watch.during(Promise.resolve("done"))).toBe("done");
  });

  it("a denial ends it at once, with its action", async () => {
    const going = expect(watch.during(new Promise(() => undefined))).rejects.toThrow("sqs:SendMessage");
    denials.push(denial);
    await vi.advanceTimersByTimeAsync(1_000);
    await going;
  });

  it("the denial behind its failure is reported, though the failure was quicker", async () => {
    denials.push(denial);
    const failing = Promise.reject(new Error("never accepted"));
    await expect(watch.during(failing)).rejects.toThrow("receive-users may not sqs:SendMessage on arn");
  });

  it("its own failure is reported where nothing else is wrong", async () => {
    await expect(watch.during(Promise.reject(new Error("never accepted")))).rejects.toThrow("never accepted");
  });

  it("patience ends", async () => {
    const going = expect(watch.during(new Promise(() => undefined))).rejects.toThrow("1 minutes");
    await vi.advanceTimersByTimeAsync(minute);
    await going;
  });
});
