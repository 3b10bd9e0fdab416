import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { type SecretsEngine, SecretsError } from "../engines/secrets.ts";
import { type AccessBook, createAccessBook } from "./access.ts";
import { type Answer, accessDenied, errorAnswer, jsonAnswer } from "./answer.ts";
import { type CapacityBook, createCapacityBook } from "./capacity.ts";
import { cloudWatchAnswer, type Monitoring } from "./cloudwatch.ts";
import {
  createEngineClient,
  type EngineClient,
  type EngineRequest,
  withoutConnectionHeaders,
} from "./engine-client.ts";
import { type IdentifyContext, identify, serviceOf } from "./identify.ts";
import { type LambdaEngine, lambdaAnswer } from "./lambda.ts";
import { asObject, type Operation, parseJsonObject, UnknownOperationError } from "./operation.ts";
import { createQueueMetrics } from "./queue-metrics.ts";
import { parseAuthorization, type SignatureClaim, verifySignature } from "./signature.ts";
import { createTableArns } from "./table-arns.ts";
import { type ThrottleEvent, throttleEvent } from "./throttle-events.ts";
import type { Call, Detour, Fault, Gateway, Interceptor, Outcome, Principal, Service } from "./types.ts";

export type GatewayOptions = {
  /** 0 or absent: any free port. */
  readonly port?: number;
  readonly region: string;
  readonly account: string;
  readonly dynamodbUrl: string;
  readonly sqsUrl: string;
  readonly s3Url: string;
  readonly secrets: SecretsEngine;
  /** Absent: there is no function. */
  readonly lambda?: LambdaEngine;
  /** Asks the table's engine what each call consumes, which costs both time. */
  readonly countsCapacity?: boolean;
  /** Is told of each throttled call to a table. */
  readonly onThrottled?: (event: ThrottleEvent) => void;
  /** Absent: there is no alarm. */
  readonly alarms?: Monitoring["alarms"];
};

/** Longer than any client keeps an idle connection, so that it is never us who closes one in its face. */
const keepAliveInMs = 120_000;

/** Engines with several databases choose one by these; one system has one database. */
const engineCredentials =
  "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=local";

type Engines = Readonly<Record<"sqs" | "dynamodb" | "s3", EngineClient>>;

type Context = IdentifyContext & {
  readonly access: AccessBook;
  readonly interceptors: ReadonlySet<Interceptor>;
  readonly engines: Engines;
  readonly lambda: LambdaEngine | undefined;
  readonly capacity: CapacityBook | undefined;
  readonly monitoring: Monitoring;
  readonly onThrottled: (event: ThrottleEvent) => void;
};

/**
 * Starts the gateway on loopback: the one address for every AWS service of the local system. It knows callers by
 * their signature, checks their permissions, counts calls, lets interceptors inject faults, and passes calls on.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const access = createAccessBook();
  const interceptors = new Set<Interceptor>();
  const engines: Engines = {
    sqs: createEngineClient(options.sqsUrl),
    dynamodb: createEngineClient(options.dynamodbUrl),
    s3: createEngineClient(options.s3Url),
  };
  const server = createServer({ keepAliveTimeout: keepAliveInMs, requestTimeout: 0 });
  const port = await listen(server, options.port ?? 0);
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
    monitoring: {
      alarms: options.alarms ?? (() => []),
      queueMetrics: createQueueMetrics(engines.sqs, Date.now),
    },
    onThrottled: options.onThrottled ?? (() => undefined),
  };
  server.on("request", (request, response) => {
    answerRequest(request, response, context).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else write(response, errorAnswer(undefined, gatewayFailure(error)), false);
    });
  });
  return {
    url,
    port,
    account: options.account,
    region: options.region,
    register: access.register,
    setResourcePolicy: access.setResourcePolicy,
    calls: access.calls,
    capacity: () => context.capacity?.counts() ?? new Map(),
    denials: access.denials,
    queueGauge: context.monitoring.queueMetrics.gauge,
    authorize: access.authorize,
    intercept: (interceptor) => {
      interceptors.add(interceptor);
      return () => interceptors.delete(interceptor);
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      for (const engine of Object.values(engines)) engine.close();
    },
  };
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(
        error.code === "EADDRINUSE"
          ? new Error(
              `Port ${port} is in use, so the gateway can't listen on it: choose another port, or 0 for any free one`,
            )
          : error,
      );
    });
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  context: Context,
): Promise<void> {
  const body = await buffer(request);
  const claim = parseAuthorization(request.headers.authorization);
  const service = serviceOf(request, claim?.service ?? "");
  const isHead = request.method === "HEAD";
  const caller = authenticate(request, body, claim, service, context);
  if ("errorType" in caller) return write(response, errorAnswer(service, caller), isHead);
  const operation = permitted(request, body, caller, service, context);
  if ("errorType" in operation) return write(response, errorAnswer(service, operation), isHead);

  const isFromFunction = request.headers["x-amz-security-token"] !== undefined;
  const call = context.access.count(caller, operation, { isFromFunction, body });
  const before = await firstOutcome(context.interceptors, call, "before");
  if (typeof before === "object" && "status" in before) countThrottle(operation, before, context);
  if (isRefusal(before)) return fail(response, before, service, isHead);
  const detour = typeof before === "object" ? before : {};
  const answer = await forwardBy(detour, body, (outgoing) =>
    forward(request, outgoing, operation, caller, context).catch((error: unknown) =>
      errorAnswer(service, engineFailure(error)),
    ),
  );
  context.monitoring.queueMetrics.onAnswer(operation, answer);
  const after = await firstOutcome(context.interceptors, call, "after");
  if (isRefusal(after)) return fail(response, after, service, isHead);
  if (before === "cut" || after === "cut") return cut(response, answer);
  if (response.destroyed) await giveBack(request, body, operation, answer, context);
  else write(response, answer, isHead);
}

function authenticate(
  request: IncomingMessage,
  body: Buffer,
  claim: SignatureClaim | undefined,
  service: Service | undefined,
  context: Context,
): Principal | Fault {
  const isS3 = service === "s3";
  if (claim === undefined) {
    const message = "The request has no Signature Version 4 in its Authorization header.";
    return { status: 403, errorType: isS3 ? "AccessDenied" : "MissingAuthenticationTokenException", message };
  }
  const principal = context.access.principal(claim.accessKeyId);
  if (principal === undefined) {
    const message = "The access key id is not registered with the local gateway.";
    return { status: 403, errorType: isS3 ? "InvalidAccessKeyId" : "UnrecognizedClientException", message };
  }
  const { region } = context.scope;
  const signed = { method: request.method ?? "", target: request.url ?? "", headers: request.headers, body };
  // People's tools may be set to any region, and here is only one; a function's environment names the right one.
  const isRightRegion = claim.region === region || principal.policies === "all";
  if (isRightRegion && verifySignature(claim, signed, principal.secretAccessKey)) return principal;
  return {
    status: 403,
    errorType: isS3 ? "SignatureDoesNotMatch" : "InvalidSignatureException",
    message: isRightRegion
      ? "The signature does not match the request and the caller's secret access key."
      : `The credential is scoped to ${claim.region}; this system's region is ${region}.`,
  };
}

function permitted(
  request: IncomingMessage,
  body: Buffer,
  caller: Principal,
  service: Service | undefined,
  context: Context,
): Operation | Fault {
  try {
    const operation = identify(request, body, service, context);
    const refusal = context.access.refusal(caller, operation);
    return refusal === undefined ? operation : accessDenied(service, denialMessage(caller, refusal));
  } catch (error) {
    if (error instanceof SyntaxError) {
      return { status: 400, errorType: "SerializationException", message: "The body is not JSON." };
    }
    if (!(error instanceof UnknownOperationError)) throw error;
    context.access.deny({
      principal: caller.name,
      action: error.action,
      resource: request.url ?? "",
      reason: error.message,
    });
    return {
      status: 403,
      errorType: service === "s3" ? "AccessDenied" : "AccessDeniedException",
      message: error.message,
    };
  }
}

function denialMessage(
  caller: Principal,
  need: { action: string; resource: string; reason: string },
): string {
  return (
    `User: ${caller.arn} is not authorized to perform: ${need.action} on resource: ${need.resource} ` +
    `because ${need.reason}`
  );
}

async function firstOutcome(
  interceptors: ReadonlySet<Interceptor>,
  call: Call,
  moment: "before" | "after",
): Promise<Outcome> {
  for (const interceptor of interceptors) {
    const outcome = await interceptor(call, moment);
    if (outcome !== undefined) return outcome;
  }
  return undefined;
}

/** The engine itself never throttles: an interceptor does. */
function countThrottle(operation: Operation, { errorType }: Fault, { onThrottled }: Context): void {
  const event = throttleEvent(operation, errorType);
  if (event !== undefined) onThrottled(event);
}

type Refusal = Fault | "hang" | "drop";

function isRefusal(outcome: Outcome): outcome is Refusal {
  return outcome === "hang" || outcome === "drop" || (typeof outcome === "object" && "status" in outcome);
}

async function forwardBy(
  { times = 1, body, answer: changed, delayAnswerMs = 0 }: Detour,
  original: Buffer,
  send: (body: Buffer) => Promise<Answer>,
): Promise<Answer> {
  const outgoing = body === undefined ? original : Buffer.from(body);
  let answer = jsonAnswer(200, {});
  for (let sent = 0; sent < times; sent += 1) answer = await send(outgoing);
  if (delayAnswerMs > 0) await wait(delayAnswerMs);
  if (changed === undefined || answer.status !== 200) return answer;
  const { "x-amz-crc32": _checksum, ...headers } = answer.headers;
  return { status: 200, headers, body: Buffer.from(changed(answer.body.toString())) };
}

/** One half of the answer, and then nothing more. */
function cut(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, "content-length": body.length });
  response.write(body.subarray(0, body.length / 2), () => response.destroy());
}

function fail(
  response: ServerResponse,
  outcome: Refusal,
  service: Service | undefined,
  isHead: boolean,
): void {
  if (outcome === "hang") return;
  if (outcome === "drop") response.destroy();
  else write(response, errorAnswer(service, outcome), isHead);
}

async function forward(
  request: IncomingMessage,
  body: Buffer,
  operation: Operation,
  caller: Principal,
  context: Context,
): Promise<Answer> {
  const outgoing = operation.body === undefined ? body : Buffer.from(operation.body);
  switch (operation.service) {
    case "sqs":
      return rewrite(
        operation,
        await context.engines.sqs.send(engineRequest(request, outgoing, operation, context.scope.region)),
      );
    case "dynamodb":
    case "streams":
      return forwardToTable(request, outgoing, operation, caller, context);
    case "s3": {
      const answer = await context.engines.s3.send(
        engineRequest(request, outgoing, operation, context.scope.region),
      );
      return concealMissingObject(operation, answer, caller, context.access);
    }
    case "secretsmanager":
      return secretsAnswer(operation, body, context.secrets);
    case "lambda": {
      const type = request.headers["x-amz-invocation-type"]?.toString() ?? "RequestResponse";
      return lambdaAnswer(operation, { target: request.url ?? "", type, body }, context.lambda);
    }
    case "cloudwatch":
      return cloudWatchAnswer(operation, parseJsonObject(body.toString()), context.monitoring);
    case "logs":
      throw new Error("the log service has no engine");
  }
}

async function forwardToTable(
  request: IncomingMessage,
  body: Buffer,
  operation: Operation,
  caller: Principal,
  { engines, capacity, scope }: Context,
): Promise<Answer> {
  const counted = operation.service === "dynamodb" ? capacity : undefined;
  const outgoing = counted === undefined ? body : Buffer.from(counted.asking(body.toString()));
  const { headers, ...rest } = engineRequest(request, outgoing, operation, scope.region);
  const answer = await engines.dynamodb.send({
    ...rest,
    headers: { ...headers, authorization: engineCredentials },
  });
  counted?.record(caller.name, operation.action, answer);
  return rewrite(operation, answer);
}

function engineRequest(
  request: IncomingMessage,
  body: Buffer,
  operation: Operation,
  region: string,
): EngineRequest {
  const { authorization, ...headers } = withoutConnectionHeaders(request.headers);
  return {
    method: request.method ?? "GET",
    // A trap: some clients send to the QueueUrl's path, where the engine of queues and objects expects an object.
    target: operation.service === "s3" ? (request.url ?? "/") : "/",
    // The engine of queues and objects keeps one world per region, and takes it from here.
    headers: { ...headers, authorization: scopedTo(region, String(authorization)) },
    body,
  };
}

function scopedTo(region: string, authorization: string): string {
  return authorization.replace(/(Credential=[^/]+\/[^/]+\/)[^/]+/, `$1${region}`);
}

function rewrite(operation: Operation, answer: Answer): Answer {
  if (operation.rewriteAnswer === undefined || answer.status !== 200) return answer;
  const { "x-amz-crc32": _checksum, ...headers } = answer.headers;
  return { status: 200, headers, body: Buffer.from(operation.rewriteAnswer(answer.body.toString())) };
}

/** Who may not list a bucket is not told that an object is missing. Source: S3 API reference, GetObject. */
function concealMissingObject(
  operation: Operation,
  answer: Answer,
  caller: Principal,
  access: AccessBook,
): Answer {
  const [need] = operation.needs;
  if (answer.status !== 404 || need?.action !== "s3:GetObject") return answer;
  const bucket = need.resource.split("/")[0] ?? need.resource;
  if (access.allows(caller, { action: "s3:ListBucket", resource: bucket })) return answer;
  const reason = "the object is missing or can't be read, and no policy allows the s3:ListBucket action";
  return errorAnswer("s3", accessDenied("s3", denialMessage(caller, { ...need, reason })));
}

function secretsAnswer(operation: Operation, body: Buffer, secrets: SecretsEngine): Answer {
  try {
    const name = operation.action.split(":")[1] ?? "";
    return jsonAnswer(200, secrets.call(name, parseJsonObject(body.toString())));
  } catch (error) {
    if (!(error instanceof SecretsError)) throw error;
    return errorAnswer("secretsmanager", { status: 400, errorType: error.name, message: error.message });
  }
}

/**
 * A caller that goes away while it waits for messages must not take them with it: the engine does not notice, so
 * what it hands out afterwards is made visible again at once (with one more receive counted).
 */
async function giveBack(
  request: IncomingMessage,
  body: Buffer,
  operation: Operation,
  answer: Answer,
  context: Context,
): Promise<void> {
  if (operation.action !== "sqs:ReceiveMessage" || answer.status !== 200) return;
  const { Messages: messages } = parseJsonObject(answer.body.toString());
  const entries = (Array.isArray(messages) ? messages : []).map((message: unknown, index) => ({
    Id: String(index),
    ReceiptHandle: asObject(message).ReceiptHandle,
    VisibilityTimeout: 0,
  }));
  if (entries.length === 0) return;
  const { QueueUrl } = parseJsonObject(body.toString());
  const changes = Buffer.from(JSON.stringify({ QueueUrl, Entries: entries }));
  const outgoing = engineRequest(request, changes, operation, context.scope.region);
  const headers = { ...outgoing.headers, "x-amz-target": "AmazonSQS.ChangeMessageVisibilityBatch" };
  await context.engines.sqs.send({ ...outgoing, headers });
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

function write(response: ServerResponse, answer: Answer, isHead: boolean): void {
  // A HEAD's answer carries the length of what GET would send.
  const length = isHead ? {} : { "content-length": answer.body.length };
  response.writeHead(answer.status, { ...answer.headers, ...length });
  response.end(isHead ? undefined : answer.body);
}
