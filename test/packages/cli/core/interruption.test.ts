import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { awaitInterruption, waitUnlessAborted } from "../../../../packages/cli/core/interruption.ts";

const failing = (code: string) => Object.assign(new Error(code), { code });

describe("what has no end of its own", () => {
  it.each(["SIGINT", "SIGTERM"] as const)("ends on %s", (signal) => {
    using interruption = awaitInterruption();
    expect(interruption.signal.aborted).toBe(false);
    process.emit(signal);
    expect(interruption.signal.aborted).toBe(true);
  });

  it("ends where nobody reads its output any more, and by no other fault of it", () => {
    const stdout = new EventEmitter();
    using interruption = awaitInterruption({ stdout });
    expect(() => stdout.emit("error", failing("ENOSPC"))).toThrow("ENOSPC");
    expect(interruption.signal.aborted).toBe(false);
    stdout.emit("error", failing("EPIPE"));
    expect(interruption.signal.aborted).toBe(true);
  });

  it("leaves no listener behind", () => {
    const stdout = new EventEmitter();
    const before = process.listenerCount("SIGINT");
    awaitInterruption({ stdout })[Symbol.dispose]();
    expect(process.listenerCount("SIGINT")).toBe(before);
    expect(stdout.listenerCount("error")).toBe(0);
  });
});

describe("a wait", () => {
  it("is over after its time, or at once when it is aborted", async () => {
    const ending = new AbortController();
    await waitUnlessAborted(0.001, ending.signal);
    const long = waitUnlessAborted(3_600, ending.signal);
    ending.abort();
    await long;
    await waitUnlessAborted(3_600, ending.signal);
  });
});
