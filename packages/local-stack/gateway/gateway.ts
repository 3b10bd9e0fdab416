import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createEngineClient } from "../engines/engine-client.ts";
import type { QueueEngine } from "../engines/queues-and-objects.ts";
import type { SecretsEngine } from "../engines/secrets.ts";
import { type Answer, bodyOf, closeServer, keepAliveTimeout, listen, writeAnswer } from "../http-server.ts";
import { createAccessBook } from "./access.ts";
import { errorAnswer } from "./answer.ts";
import {
  type AuthorizationContext,
  authenticate,
  authorize,
  identifyCaller,
  type ReceivedRequest,
} from "./authorization.ts";
import type { StackListing } from "./cloudformation.ts";
import type { Monitoring } from "./cloudwatch.ts";
import {
  type AuthorizedRequest,
  askTable,
  type Engines,
  type ForwardContext,
  forward,
  giveBack,
} from "./forward.ts";
import { serviceOf } from "./identify.ts";
import { createDeduplication, createInFlightLimit, createMessageTraces, mostInFlight } from "./in-flight.ts";
import type { LambdaEngine } from "./lambda.ts";
import type { LogsEngine } from "./logs/logs.ts";
import type { Operation } from "./operation.ts";
import { cut, forwardBy, isRefusal, refuse } from "./outcomes.ts";
import { createQueueMetrics } from "./queue-metrics.ts";
import type { SignedRequest } from "./signature.ts";
import { parseAuthorization } from "./signature.ts";
import { createCapacityBook } from "./tables/capacity.ts";
import { createStatementRunner } from "./tables/run-statements.ts";
import { createTableArns } from "./tables/streams.ts";
import { type ThrottleEvent, throttleEvents } from "./tables/throttle-events.ts";
import type { Call, Capacity, Fault, Interceptor, Outcome } from "./types.ts";

export type GatewayOptions = {
  /** Port; 0 or absent: any free port. */
  readonly port?: number;
  readonly region: string;
  readonly account: string;
  readonly dynamodbUrl: string;
  readonly queues: QueueEngine;
  readonly s3Url: string;
  readonly secrets: SecretsEngine;
  /** Absent: there are no functions. */
  readonly lambda?: LambdaEngine;
  /** Asks the table engine for the consumed capacity of each call, at a cost in time. */
  readonly countsCapacity?: boolean;
  /** Deduplication window of FIFO queues; five minutes by default and at most. */
  readonly deduplicationSeconds?: number | undefined;
  /** Maximum messages in flight per queue; SQS's quota by default. */
  readonly mostInFlight?: number;
  readonly onThrottled?: (event: ThrottleEvent) => void;
  /** Called with problems that no call reports. */
  readonly onProblem?: (message: string) => void;
  /** Absent: there are no alarms. */
  readonly alarms?: Monitoring["alarms"];
  /** Absent: there are no log groups. */
  readonly logs?: LogsEngine;
  /** Absent: CloudFormation lists no stack. */
  readonly stack?: () => StackListing | undefined;
};

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

type Context = AuthorizationContext &
  ForwardContext & {
    readonly interceptors: ReadonlySet<Interceptor>;
    readonly onThrottled: (event: ThrottleEvent) => void;
    readonly onProblem: (message: string) => void;
  };

/**
 * Starts the gateway on loopback: one endpoint for every AWS service of the local system. It identifies
 * callers by signature, checks permissions, counts calls, lets interceptors inject faults, and forwards calls
 * to the engines.
 */
export async function startGateway(options: GatewayOptions) {
  const access = createAccessBook();
  const interceptors = new Set<Interceptor>();
  const engines: Engines = {
    sqs: options.queues,
    dynamodb: createEngineClient(options.dynamodbUrl),
    s3: createEngineClient(options.s3Url),
  };
  const server = createServer({ keepAliveTimeout, requestTimeout: 0 });
  const port = await listen(server, { port: options.port ?? 0, name: "gateway" });
  const url = `http://127.0.0.1:${port}`;
  const context: Context = {
    scope: { region: options.region, account: options.account, origin: url },
    tableArns: createTableArns(options),
    secrets: options.secrets,
    access,
    interceptors,
    engines,
    lambda: options.lambda,
    capacity: options.countsCapacity === true ? createCapacityBook() : undefined,
    runStatements: createStatementRunner((name, input) => askTable(engines.dynamodb, name, input)),
    monitoring: {
      alarms: options.alarms ?? (() => undefined),
      queueMetrics: createQueueMetrics(options.queues, Date.now),
    },
    logs: options.logs ?? { groups: () => [] },
    stack: options.stack ?? (() => undefined),
    deduplication:
      options.deduplicationSeconds === undefined
        ? undefined
        : createDeduplication(options.deduplicationSeconds, Date.now),
    traces: createMessageTraces(),
    inFlight: createInFlightLimit(options.mostInFlight ?? mostInFlight),
    onThrottled: options.onThrottled ?? (() => undefined),
    onProblem: options.onProblem ?? (() => undefined),
  };
  server.on("request", (request, response) => {
    answerRequest(request, response, context).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else writeAnswer(response, errorAnswer(undefined, gatewayFailure(error)));
    });
  });
  return {
    /** Origin without a trailing slash, for `AWS_ENDPOINT_URL`. */
    url,
    /** Account of the local system, in every ARN and QueueUrl. */
    account: options.account,
    region: options.region,
    register: access.register,
    /** Sets the policy of a queue, bucket (and its objects), secret or table, by its ARN. */
    setResourcePolicy: access.setResourcePolicy,
    /**
     * Authorized calls so far, by `<principal's name> <action>`, for example `store-users dynamodb:UpdateItem`.
     */
    calls: access.calls,
    /** Capacity units of table calls so far, by the same keys; empty unless counted. */
    capacity: (): ReadonlyMap<string, Capacity> => context.capacity?.counts() ?? new Map(),
    denials: access.denials,
    queueGauge: context.monitoring.queueMetrics.gauge,
    authorize: access.authorize,
    permissionsOf: access.permissionsOf,
    /** Identifies the caller of a function URL by its signature; otherwise returns the error. */
    identifyCaller: (request: SignedRequest) => identifyCaller(request, context, Date.now()),
    /** Adds an interceptor; returns a function that removes it. */
    intercept: (interceptor: Interceptor): (() => void) => {
      interceptors.add(interceptor);
      return () => interceptors.delete(interceptor);
    },
    close: async () => {
      await closeServer(server);
      for (const engine of Object.values(engines)) engine.close();
    },
  };
}

async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  context: Context,
): Promise<void> {
  const body = (await bodyOf(request)) ?? Buffer.alloc(0);
  const claim = parseAuthorization(request.headers.authorization);
  const service = serviceOf(request, claim?.service ?? "");
  const received: ReceivedRequest = { message: request, body, claim, service };
  const reply = { response, service };
  const caller = authenticate(received, context);
  if ("errorType" in caller) return refuse(reply, caller);
  const operation = await authorize(received, caller, context);
  if ("errorType" in operation) return refuse(reply, operation);

  const isFromFunction = request.headers["x-amz-security-token"] !== undefined;
  const call = context.access.count(caller, operation, { isFromFunction, body });
  const before = await firstOutcome(context.interceptors, call, "before");
  if (typeof before === "object" && "status" in before) countThrottles(operation, before, context);
  if (isRefusal(before)) return refuse(reply, before);
  const detour = typeof before === "object" ? before : {};
  const authorized: AuthorizedRequest = { message: request, body, caller, operation };
  const answer = await forwardBy(detour, body, (outgoing) =>
    forward({ ...authorized, body: outgoing }, context).catch((error: unknown) =>
      errorAnswer(service, engineFailure(error)),
    ),
  );
  countThrottles(operation, answer, context);
  context.monitoring.queueMetrics.onAnswer(operation, answer);
  const after = await firstOutcome(context.interceptors, call, "after");
  if (isRefusal(after)) return refuse(reply, after);
  if (before === "cut" || after === "cut") return cut(response, answer);
  if (!response.destroyed) return writeAnswer(response, answer);
  const problem = await giveBack(authorized, answer, context.engines.sqs);
  if (problem !== undefined) context.onProblem(problem);
}

/** The engines never throttle; interceptors do. */
function countThrottles(operation: Operation, answer: Fault | Answer, { onThrottled }: Context): void {
  for (const event of throttleEvents(operation, answer)) onThrottled(event);
}

function gatewayFailure(error: unknown): Fault {
  const message = `The local gateway failed: ${reasonOf(error)}`;
  return { status: 500, errorType: "InternalFailure", message };
}

function engineFailure(error: unknown): Fault {
  return {
    status: 503,
    errorType: "ServiceUnavailable",
    message: `The local engine does not answer: ${reasonOf(error)}`,
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the first outcome of an interceptor. */
async function firstOutcome(
  interceptors: ReadonlySet<Interceptor>,
  call: Call,
  phase: "before" | "after",
): Promise<Outcome> {
  for (const interceptor of interceptors) {
    const outcome = await interceptor(call, phase);
    if (outcome !== undefined) return outcome;
  }
  return undefined;
}
