import type { Usage } from "@income-events/local-stack/lambda/protocol.ts";
import type { LocalFunction } from "@income-events/local-stack/stack.ts";
import type { Implementation, Part } from "../implementations.ts";
import type { QueueRequests } from "./count-requests.ts";

/** What the functions of one part of the way spent. */
export type Spent = {
  readonly invocations: number;
  readonly cpuMicros: number;
  readonly millis: number;
  readonly maxResidentBytes: number;
  /** What their event sources asked of SQS to hand over messages: as it bills them, without looks at an empty queue. */
  readonly queueRequests: QueueRequests;
};
export type SpentByPart = Readonly<Record<Part, Spent>>;

/** Invokes the functions of an implementation, and adds up what they spend. */
export type Invoker = {
  /** @returns what it answered; undefined where it failed, which ends the run unless failures are expected */
  readonly invoke: (part: Part, target: LocalFunction, event: unknown) => Promise<unknown>;
  readonly countRequests: (part: Part, requests: QueueRequests) => void;
  readonly spent: () => SpentByPart;
};

export function createInvoker(implementation: Implementation, expectsFailures: boolean): Invoker {
  const spent = new Map<Part, Spent>();
  const of = (part: Part) => spent.get(part) ?? nothing;
  return {
    invoke: async (part, target, event) => {
      const outcome = await target.invoke(JSON.stringify(event));
      if (outcome.kind === "returned" && outcome.usage !== undefined) {
        spent.set(part, add(of(part), outcome.usage));
        return JSON.parse(outcome.payload);
      }
      if (expectsFailures) return undefined;
      throw new Error(`${implementation}: ${target.logicalId} failed: ${JSON.stringify(outcome)}`);
    },
    countRequests: (part, requests) => {
      const sum = of(part);
      const { all, fifo } = sum.queueRequests;
      spent.set(part, {
        ...sum,
        queueRequests: { all: all + requests.all, fifo: fifo + requests.fifo },
      });
    },
    spent: () => ({ receive: of("receive"), store: of("store"), relay: of("relay"), fetch: of("fetch") }),
  };
}

const nothing: Spent = {
  invocations: 0,
  cpuMicros: 0,
  millis: 0,
  maxResidentBytes: 0,
  queueRequests: { all: 0, fifo: 0 },
};

function add(sum: Spent, { cpuMicros, millis, maxResidentBytes }: Usage): Spent {
  return {
    ...sum,
    invocations: sum.invocations + 1,
    cpuMicros: sum.cpuMicros + cpuMicros,
    millis: sum.millis + millis,
    maxResidentBytes: Math.max(sum.maxResidentBytes, maxResidentBytes),
  };
}
