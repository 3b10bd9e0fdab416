import type { Policy } from "../iam/policy.ts";

/** A caller with its own credentials. `policies: "all"` is the operator, who may do everything. */
export type Principal = {
  readonly name: string;
  /** For example the role's ARN; appears in denials and is matched by resource policies. */
  readonly arn: string;
  /** Letters and digits only: DynamoDB Local refuses others. */
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly policies: "all" | readonly Policy[];
};

export type Service =
  | "sqs"
  | "dynamodb"
  | "streams"
  | "s3"
  | "secretsmanager"
  | "lambda"
  | "cloudwatch"
  | "logs"
  | "cloudformation"
  | "sts";

/** An authorized call. */
export type Call = {
  readonly id: number;
  readonly principal: string;
  readonly service: Service;
  /** The operation, as billed, for example `sqs:SendMessageBatch`. */
  readonly action: string;
  readonly resources: readonly string[];
  /**
   * Whether the function's own process makes the call; calls by Lambda in the role's name have no session.
   */
  readonly isFromFunction: boolean;
  readonly body: Buffer;
};

/** An error that an interceptor returns instead of the service's answer, formatted as the service's own. */
export type Fault = { readonly status: number; readonly errorType: string; readonly message: string };

/** Changes how a call is forwarded. Only valid in the phase `before`. */
export type Detour = {
  /**
   * Number of times the engine receives the call, 1 by default: a network may repeat a request. 0: `answer`
   * transforms `{}`.
   */
  readonly times?: number;
  readonly body?: string;
  /** Transforms a successful JSON answer of the engine. */
  readonly answer?: (body: string) => string;
  /** Delay between the engine's answer and the caller's, in milliseconds. */
  readonly delayAnswerMs?: number;
};

/**
 * Outcome of a call: `undefined` forwards it, a fault is returned in its place, `hang` never answers, `drop`
 * cuts the connection, `cut` cuts it after half of the answer.
 */
export type Outcome = undefined | Fault | "hang" | "drop" | "cut" | Detour;

/**
 * Called for every authorized call: `before` it is forwarded, and `after` the engine applied it but before
 * the caller gets the answer.
 */
export type Interceptor = (call: Call, phase: "before" | "after") => Promise<Outcome>;

export type Denial = {
  readonly principal: string;
  readonly action: string;
  readonly resource: string;
  readonly reason: string;
};

export type Capacity = { readonly readUnits: number; readonly writeUnits: number };
