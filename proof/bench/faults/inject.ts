import { partOf } from "../drive/parts.ts";
import type { RunningImplementation } from "../drive/running-implementation.ts";
import type { Part } from "../implementations.ts";
import { type Fault, faultAt } from "./schedule.ts";

/** Faults that an implementation gets until they are taken away. */
export type Injected = Disposable & { readonly counts: () => Readonly<Record<Fault, number>> };

const throttled = { status: 400, errorType: "ThrottlingException", message: "Rate exceeded" };
const failed = { status: 500, errorType: "InternalServerError", message: "The service failed" };

/** Lets the calls of an implementation's functions fail at the gateway by the schedule. */
export function injectFaults({ stack }: RunningImplementation): Injected {
  const calls = new Map<Part, number>();
  const applied = new Map<number, Fault>();
  const counts = { throttled: 0, failed: 0, cut: 0, answerLost: 0, killedBefore: 0, killedAfter: 0 };
  /** What happens to a call at this moment. */
  const faultOf = (id: number, part: Part, phase: "before" | "after"): Fault | undefined => {
    if (phase === "after") return applied.get(id);
    const call = (calls.get(part) ?? 0) + 1;
    calls.set(part, call);
    const fault = faultAt(call);
    if (fault !== "answerLost" && fault !== "killedAfter") return fault;
    applied.set(id, fault);
    return undefined;
  };
  const stop = stack.gateway.intercept(async ({ id, principal, action }, phase) => {
    // Without it a message comes again later: only time would be lost.
    if (action.startsWith("sqs:ChangeMessageVisibility")) return undefined;
    const target = stack.functions.find(({ name }) => name === principal);
    const part = target && partOf(target);
    const fault = part && faultOf(id, part, phase);
    if (fault === undefined) return undefined;
    counts[fault] += 1;
    switch (fault) {
      case "throttled":
        return throttled;
      case "failed":
        return failed;
      case "cut":
      case "answerLost":
        return "drop";
      case "killedBefore":
      case "killedAfter":
        target?.killWorking();
        return "drop";
    }
  });
  return { counts: () => counts, [Symbol.dispose]: stop };
}
