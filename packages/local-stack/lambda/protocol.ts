/** Messages between the runner and a function's process. Payloads are JSON text. */

export type FunctionError = {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
};

export type Invocation = {
  readonly kind: "invoke";
  readonly requestId: string;
  readonly event: string;
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

/** Cost of one invocation, and the process's peak memory so far. */
export type Usage = {
  readonly cpuMicros: number;
  /** Milliseconds from the event to the answer. */
  readonly millis: number;
  readonly maxResidentBytes: number;
};

export type Held = {
  /** Reachable memory: heap and external buffers, after a garbage collection. */
  readonly liveBytes: number;
  /** Peak resident memory so far. */
  readonly maxResidentBytes: number;
};

/** Requests to a process; memory is measured only while it is idle. */
export type RunnerMessage = Invocation | { readonly kind: "measure-memory" };

export type ProcessMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "init-error"; readonly error: FunctionError }
  /** Chunk of a streamed answer. */
  | { readonly kind: "chunk"; readonly requestId: string; readonly base64: string }
  | {
      readonly kind: "returned";
      readonly requestId: string;
      readonly payload: string;
      readonly usage: Usage;
    }
  | { readonly kind: "failed"; readonly requestId: string; readonly error: FunctionError }
  | { readonly kind: "memory"; readonly held: Held };
