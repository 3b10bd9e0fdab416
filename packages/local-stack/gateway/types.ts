import type { Decision, RequestContext } from "../iam/evaluate.ts";
import type { Grant } from "../iam/grants.ts";
import type { Policy } from "../iam/policy.ts";
import type { SignedRequest } from "./signature.ts";

/** A caller with credentials of its own. `policies: "all"` is the operator, who may do everything. */
export type Principal = {
  readonly name: string;
  /** For example the role's ARN; it stands in denials and is matched against resource policies. */
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

/** One call that the caller was allowed to make. */
export type Call = {
  readonly id: number;
  /** The principal's name. */
  readonly principal: string;
  readonly service: Service;
  /** The operation as called and billed, for example `sqs:SendMessageBatch`. */
  readonly action: string;
  readonly resources: readonly string[];
  /** Whether a function's own process makes it: what Lambda calls in the name of its role has no session. */
  readonly isFromFunction: boolean;
  /** As the caller sent it. */
  readonly body: Buffer;
};

/** An answer that an interceptor gives instead of the service, in the service's own error shape. */
export type Fault = { readonly status: number; readonly errorType: string; readonly message: string };

/** Lets a call go on in another way than it came. It has a meaning before the call leaves only. */
export type Detour = {
  /** How often the engine gets it, 1 by default: a network may repeat a request. 0: `answer` makes one of `{}`. */
  readonly times?: number;
  /** What the engine gets in place of the caller's body. */
  readonly body?: string;
  /** Turns a good answer of the engine, which must be JSON, into the caller's. */
  readonly answer?: (body: string) => string;
  /** Between the engine's answer and the caller's. */
  readonly delayAnswerMs?: number;
};

/**
 * What becomes of a call: `undefined` lets it go on, a fault is answered in its place, `hang` never answers, `drop`
 * cuts the connection, `cut` does so after one half of the answer.
 */
export type Outcome = undefined | Fault | "hang" | "drop" | "cut" | Detour;

/**
 * Called for every allowed call: `before` it leaves to the engine, and `after` the engine applied it while the
 * answer is not yet returned.
 */
export type Interceptor = (call: Call, phase: "before" | "after") => Promise<Outcome>;

export type Denial = {
  readonly principal: string;
  readonly action: string;
  readonly resource: string;
  readonly reason: string;
};

/** Capacity units of DynamoDB, as it bills them on demand. */
export type Capacity = { readonly readUnits: number; readonly writeUnits: number };

export type Gateway = {
  /** Origin without a trailing slash, for `AWS_ENDPOINT_URL`. */
  readonly url: string;
  readonly port: number;
  /** The one account of the local system, as in every ARN and QueueUrl. */
  readonly account: string;
  readonly region: string;
  register(principal: Principal): void;
  /** Sets the policy of a queue, bucket (which holds for its objects too), secret or table, by its ARN. */
  setResourcePolicy(arn: string, policy: Policy): void;
  /** Adds an interceptor; the result removes it. */
  intercept(interceptor: Interceptor): () => void;
  /** Allowed calls so far, by `<principal's name> <action>`, for example `store-users dynamodb:UpdateItem`. */
  calls(): ReadonlyMap<string, number>;
  /** Capacity units of the table's calls so far, by the same keys; empty unless they are counted. */
  capacity(): ReadonlyMap<string, Capacity>;
  /** What SQS would measure of a queue at this moment; undefined where it is no such metric, or says nothing. */
  queueGauge(queueName: string, metric: string): Promise<number | undefined>;
  /** What a caller may do by its own policies, and whether some call so far was allowed by that alone. */
  permissionsOf(name: string): readonly (Grant & { readonly isNeeded: boolean })[];
  /** Everything that was refused so far, also by `authorize`. */
  denials(): readonly Denial[];
  /**
   * Asks for a caller that acts inside the runner: event source pollers, the log writer, schedules, checks at
   * creation. `principal` is a registered name, or a service such as `events.amazonaws.com`.
   * @param context condition keys, for example `{"aws:SourceArn": ruleArn}`; aws:SecureTransport is "true"
   */
  authorize(principal: string, action: string, resource: string, context?: RequestContext): Decision;
  /** Who signed a request to a function's URL; otherwise the fault. */
  identifyCaller(request: SignedRequest): Principal | Fault;
  close(): Promise<void>;
};
