import {
  askQueue,
  type EngineClient,
  type EngineRequest,
  withoutConnectionHeaders,
} from "../engines/engine-client.ts";
import type { SecretsEngine } from "../engines/secrets.ts";
import { SecretsError } from "../engines/secrets-error.ts";
import type { Answer } from "../http-server.ts";
import type { AccessBook } from "./access.ts";
import { accessDenied, errorAnswer, jsonAnswer, rewrite } from "./answer.ts";
import { denialMessage, type ReceivedRequest } from "./authorization.ts";
import { cloudFormationAnswer, type StackListing } from "./cloudformation.ts";
import { cloudWatchAnswer, type Monitoring } from "./cloudwatch.ts";
import type { IdentifyContext } from "./identify.ts";
import { type Deduplication, type InFlightLimit, type MessageTraces, messageFault } from "./in-flight.ts";
import { type LambdaEngine, lambdaAnswer } from "./lambda.ts";
import { type LogsEngine, logsAnswer } from "./logs/logs.ts";
import { asList, asObject, asString, type JsonObject, type Operation, parseJsonObject } from "./operation.ts";
import { stsAnswer } from "./sts.ts";
import type { CapacityBook } from "./tables/capacity.ts";
import type { RunStatements } from "./tables/run-statements.ts";
import { batchAction } from "./tables/statements.ts";
import type { Capacity, Principal } from "./types.ts";

/** A request whose caller is identified and authorized. */
export type AuthorizedRequest = Pick<ReceivedRequest, "message" | "body"> & {
  readonly caller: Principal;
  readonly operation: Operation;
};

export type Engines = Readonly<Record<"sqs" | "dynamodb" | "s3", EngineClient>>;

export type ForwardContext = Pick<IdentifyContext, "scope" | "secrets"> & {
  readonly access: AccessBook;
  readonly engines: Engines;
  readonly lambda: LambdaEngine | undefined;
  readonly capacity: CapacityBook | undefined;
  readonly runStatements: RunStatements;
  readonly monitoring: Monitoring;
  readonly logs: LogsEngine;
  /** Undefined until the stack is planned. */
  readonly stack: () => StackListing | undefined;
  /** Absent: the engine's own deduplication window. */
  readonly deduplication: Deduplication | undefined;
  readonly traces: MessageTraces;
  readonly inFlight: InFlightLimit;
};

/** Some engines select a database by credentials; the local system uses one. */
const engineCredentials =
  "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=local";

export async function forward(call: AuthorizedRequest, context: ForwardContext): Promise<Answer> {
  const { message, body, operation, caller } = call;
  const outgoing = operation.body === undefined ? call : { ...call, body: Buffer.from(operation.body) };
  switch (operation.service) {
    case "sqs":
      return forwardToQueue(outgoing, context);
    case "dynamodb":
    case "streams":
      return forwardToTable(outgoing, context);
    case "s3": {
      const answer = await context.engines.s3.send(engineRequest(outgoing, context));
      return concealMissingObject(operation, answer, caller, context.access);
    }
    case "secretsmanager":
      return secretsAnswer(operation, body, context.secrets);
    case "lambda": {
      const type = message.headers["x-amz-invocation-type"]?.toString() ?? "RequestResponse";
      const trace = message.headers["x-amzn-trace-id"]?.toString();
      return lambdaAnswer(operation, { target: message.url ?? "", type, body, trace }, context.lambda);
    }
    case "cloudwatch":
      return cloudWatchAnswer(operation, parseJsonObject(body.toString()), context.monitoring);
    case "sts":
      return stsAnswer(caller);
    case "cloudformation":
      return cloudFormationAnswer(body.toString(), context.stack());
    case "logs":
      return logsAnswer(operation, parseJsonObject(body.toString()), context.logs);
  }
}

async function forwardToQueue(call: AuthorizedRequest, context: ForwardContext): Promise<Answer> {
  const { operation, body, message } = call;
  const { engines, deduplication, traces, inFlight } = context;
  const fault = messageFault(operation, body);
  if (fault !== undefined) return errorAnswer("sqs", fault);
  const isReceive = operation.action === "sqs:ReceiveMessage";
  const refused = isReceive
    ? await inFlight.refusal(body, () => countInFlight(body, engines.sqs))
    : undefined;
  if (refused !== undefined) return refused;
  const outgoing = deduplication?.forEngine(operation, body) ?? body;
  const answer = await engines.sqs.send(engineRequest({ ...call, body: outgoing }, context));
  traces.onSent(operation, message, answer);
  if (!isReceive || answer.status !== 200) return rewrite(answer, operation.rewriteAnswer);
  inFlight.onReceived(body, answer);
  return rewrite(answer, (text) => traces.withTraces(deduplication?.forCaller(text) ?? text));
}

async function countInFlight(body: Buffer, sqs: EngineClient): Promise<number> {
  const name = "ApproximateNumberOfMessagesNotVisible";
  const { QueueUrl } = parseJsonObject(body.toString());
  const answer = await askQueue(sqs, "GetQueueAttributes", { QueueUrl, AttributeNames: [name] });
  return Number(asObject(parseJsonObject(answer.body.toString()).Attributes)[name] ?? 0);
}

async function forwardToTable(call: AuthorizedRequest, context: ForwardContext): Promise<Answer> {
  const { body, operation, caller } = call;
  const counted = operation.service === "dynamodb" ? context.capacity : undefined;
  const count = (units: Capacity) => counted?.add(caller.name, operation.action, units);
  if (operation.action === batchAction) {
    const send = () => sendToTable(call, context);
    return rewrite(await context.runStatements(body, send, counted && count), operation.rewriteAnswer);
  }
  const outgoing = counted === undefined ? body : Buffer.from(counted.asking(body.toString()));
  const answer = await sendToTable({ ...call, body: outgoing }, context);
  if (counted !== undefined) count(counted.unitsOf(operation.action, answer));
  return rewrite(answer, operation.rewriteAnswer);
}

function sendToTable(call: AuthorizedRequest, context: ForwardContext): Promise<Answer> {
  const { headers, ...rest } = engineRequest(call, context);
  return context.engines.dynamodb.send({
    ...rest,
    headers: { ...headers, authorization: engineCredentials },
  });
}

/** Calls the table engine for the gateway's own needs; returns undefined if the table does not exist. */
export async function askTable(
  engine: EngineClient,
  operation: string,
  input: JsonObject,
): Promise<JsonObject | undefined> {
  const headers = {
    "content-type": "application/x-amz-json-1.0",
    "x-amz-target": `DynamoDB_20120810.${operation}`,
    "x-amz-date": "20260101T000000Z",
    authorization: engineCredentials,
  };
  const body = Buffer.from(JSON.stringify(input));
  const answer = await engine.send({ method: "POST", target: "/", headers, body });
  const content = parseJsonObject(answer.body.toString());
  if (answer.status === 200) return content;
  if (asString(content.__type).endsWith("#ResourceNotFoundException")) return undefined;
  throw new Error(`${operation}: ${answer.body}`);
}

function engineRequest(
  { message, body, operation }: AuthorizedRequest,
  { scope: { region } }: ForwardContext,
): EngineRequest {
  const { authorization, ...headers } = withoutConnectionHeaders(message.headers);
  return {
    method: message.method ?? "GET",
    // A trap: some clients send to the path of the QueueUrl, where the engine expects an object.
    target: operation.service === "s3" ? (message.url ?? "/") : "/",
    // The engine of queues and objects separates regions, and reads the region from the signature.
    headers: { ...headers, authorization: scopedTo(region, String(authorization)) },
    body,
  };
}

function scopedTo(region: string, authorization: string): string {
  return authorization.replace(/(Credential=[^/]+\/[^/]+\/)[^/]+/, `$1${region}`);
}

/** Returns 403 instead of 404 to callers that cannot list the bucket. Source: S3 API reference, GetObject. */
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
 * Makes messages visible again that the engine hands to a receive call whose caller has gone (their receive
 * count stays one higher).
 * @returns an error message if the engine refused; the messages then reappear after their visibility timeout
 */
export async function giveBack(
  call: AuthorizedRequest,
  answer: Answer,
  sqs: EngineClient,
): Promise<string | undefined> {
  if (call.operation.action !== "sqs:ReceiveMessage" || answer.status !== 200) return undefined;
  const { Messages: messages } = parseJsonObject(answer.body.toString());
  const entries = asList(messages).map((message, index) => ({
    Id: String(index),
    ReceiptHandle: asObject(message).ReceiptHandle,
    VisibilityTimeout: 0,
  }));
  if (entries.length === 0) return undefined;
  const { QueueUrl } = parseJsonObject(call.body.toString());
  const given = await askQueue(sqs, "ChangeMessageVisibilityBatch", { QueueUrl, Entries: entries });
  const { Failed: failed } =
    given.status === 200 ? parseJsonObject(given.body.toString()) : { Failed: entries };
  const left = asList(failed).length;
  if (left === 0) return undefined;
  return `${left} of ${entries.length} messages of ${asString(QueueUrl)} could not be given back: ${given.body}`;
}
