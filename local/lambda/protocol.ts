/** What the runner and a function's process say to each other. Payloads travel as JSON text. */

/** A failed invocation in the shape that Lambda answers. */
export type FunctionError = {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
};

export type Invocation = {
  readonly requestId: string;
  readonly event: string;
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

export type ProcessMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "init-error"; readonly error: FunctionError }
  | {
      readonly kind: "returned";
      readonly requestId: string;
      readonly payload: string;
      readonly usage: Usage;
    }
  | { readonly kind: "failed"; readonly requestId: string; readonly error: FunctionError };
