/** What the runner and a function's process say to each other. Payloads travel as JSON text. */

/** A failed invocation in the shape that Lambda answers. */
export type FunctionError = {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
};

export type Invocation = {
  readonly kind: "invoke";
  readonly requestId: string;
  readonly event: string;
  /** The trace header that its calls to AWS carry on. */
  readonly trace: string;
  /** Milliseconds since 1970. */
  readonly deadline: number;
  readonly context: {
    readonly functionName: string;
    readonly invokedFunctionArn: string;
    readonly memoryLimitInMB: string;
    readonly logGroupName: string;
    readonly logStreamName: string;
  };
};

/** What the process spent on one invocation, and the most memory that it has held until then. */
export type Usage = {
  readonly cpuMicros: number;
  /** From the event to the answer. */
  readonly millis: number;
  readonly maxResidentBytes: number;
};

/** What a process holds of memory. */
export type Held = {
  /** What its code can still reach: its heap and the buffers outside of it, after all garbage is collected. */
  readonly liveBytes: number;
  /** The most that it has taken of the machine until then. */
  readonly maxResidentBytes: number;
};

/** What the runner asks of a process; what it holds only while nothing runs in it. */
export type RunnerMessage = Invocation | { readonly kind: "measure-memory" };

export type ProcessMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "init-error"; readonly error: FunctionError }
  /** A part of the answer of a function that streams; `base64`. */
  | { readonly kind: "chunk"; readonly requestId: string; readonly base64: string }
  | {
      readonly kind: "returned";
      readonly requestId: string;
      readonly payload: string;
      readonly usage: Usage;
    }
  | { readonly kind: "failed"; readonly requestId: string; readonly error: FunctionError }
  | { readonly kind: "memory"; readonly held: Held };
