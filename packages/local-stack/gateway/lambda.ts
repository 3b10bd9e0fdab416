import { randomUUID } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import type { Answer } from "../http-server.ts";
import { type AsynchronousInvoker, asynchronousPayloadBytes } from "../lambda/asynchronous.ts";
import { type HostedFunction, type Outcome, synchronousPayloadBytes } from "../lambda/hosted-function.ts";
import { isRecursionError } from "../lambda/lineage.ts";
import { errorAnswer, jsonAnswer } from "./answer.ts";
import { type Operation, type Place, parseJsonObject, UnknownOperationError } from "./operation.ts";

/** Functions that can be invoked, and the invoker of asynchronous events. */
export type LambdaEngine = {
  /** The gateway starts before the stack's functions. */
  readonly functions: ReadonlyMap<string, HostedFunction>;
  readonly invoker: Pick<AsynchronousInvoker, "invoke">;
  /** Current event source mappings; absent: none. */
  readonly mappings?: () => readonly EventSourceMapping[];
};

/** A function's name, full or partial ARN, with an optional alias. */
const identifierPattern =
  /^(?:(?:arn:aws:lambda:(?<region>[a-z0-9-]+):)?(?<account>\d{12}):function:)?(?<name>[A-Za-z0-9_-]+)(?::(?<alias>[A-Za-z0-9_-]+))?$/;

const functionPath = /^\/2015-03-31\/functions\/([^/]+)\/(invocations|configuration)$/;
const mappingsPath = /^\/2015-03-31\/event-source-mappings\/?$/;
const mappingPath = /^\/2015-03-31\/event-source-mappings\/(?<id>[^/?]+)$/;

/**
 * Parses Invoke, GetFunctionConfiguration, ListEventSourceMappings and UpdateEventSourceMapping.
 * Source: Lambda API reference; service authorization reference.
 */
export function lambdaOperation(method: string, target: string, scope: Place): Operation {
  const [path = "", query = ""] = target.split("?");
  if (method === "GET" && mappingsPath.test(path)) {
    // This permission has no resource: it covers all mappings or none.
    return operationOf("ListEventSourceMappings", "*");
  }
  const mapping = method === "PUT" ? mappingPath.exec(path)?.groups : undefined;
  if (mapping !== undefined) {
    const resource = `arn:aws:lambda:${scope.region}:${scope.account}:event-source-mapping:${mapping.id}`;
    return operationOf("UpdateEventSourceMapping", resource);
  }
  const [, encoded = "", part] = functionPath.exec(path) ?? [];
  const found = identifierPattern.exec(decodeURIComponent(encoded))?.groups;
  if (found !== undefined && query === "") {
    const { region = scope.region, account = scope.account, name = "", alias } = found;
    const ofFunction = `arn:aws:lambda:${region}:${account}:function:${name}`;
    const resource = alias === undefined ? ofFunction : `${ofFunction}:${alias}`;
    if (method === "POST" && part === "invocations") return operationOf("Invoke", resource, "InvokeFunction");
    if (method === "GET" && part === "configuration")
      return operationOf("GetFunctionConfiguration", resource);
  }
  throw new UnknownOperationError(
    `lambda:${method}`,
    `the Lambda operation ${method} ${target}; it knows Invoke, without a version, ` +
      "GetFunctionConfiguration, ListEventSourceMappings and UpdateEventSourceMapping",
  );
}

function operationOf(name: string, resource: string, permission = name): Operation {
  return {
    service: "lambda",
    action: `lambda:${name}`,
    needs: [{ action: `lambda:${permission}`, resource }],
  };
}

type InvokeRequest = {
  readonly type: string;
  readonly body: Buffer;
  readonly trace: string | undefined;
};

export async function lambdaAnswer(
  { action, needs: [need] }: Operation,
  request: InvokeRequest & { readonly target: string },
  engine: LambdaEngine | undefined,
): Promise<Answer> {
  const arn = need?.resource ?? "";
  switch (action) {
    case "lambda:ListEventSourceMappings":
      return mappingsAnswer(request.target, engine?.mappings?.() ?? []);
    case "lambda:UpdateEventSourceMapping":
      return updateMappingAnswer(arn.split(":").at(-1) ?? "", request.body, engine?.mappings?.() ?? []);
    case "lambda:GetFunctionConfiguration":
      return configurationAnswer(arn, engine);
    default:
      return invokeAnswer(arn, request, engine);
  }
}

function functionOf(arn: string, engine: LambdaEngine | undefined): HostedFunction | undefined {
  return engine && [...engine.functions.values()].find(({ plan }) => isOf(plan, arn));
}

/** Whether the ARN is the function's or one of its aliases'. */
function isOf({ arn, aliasArns = [] }: HostedFunction["plan"], asked: string): boolean {
  return arn === asked || aliasArns.includes(asked);
}

/** Source: Lambda API reference, "GetFunctionConfiguration". */
function configurationAnswer(arn: string, engine: LambdaEngine | undefined): Answer {
  const target = functionOf(arn, engine);
  if (target === undefined) return refusal(404, "ResourceNotFoundException", `Function not found: ${arn}`);
  const { name, timeoutSeconds, memoryMb } = target.plan;
  return jsonAnswer(200, {
    FunctionName: name,
    FunctionArn: arn,
    Timeout: timeoutSeconds,
    MemorySize: memoryMb,
    State: "Active",
    LastUpdateStatus: "Successful",
  });
}

/** Invokes the function, and waits for its answer unless the invocation type is Event. */
async function invokeAnswer(
  arn: string,
  { type, body, trace }: InvokeRequest,
  engine: LambdaEngine | undefined,
): Promise<Answer> {
  const target = functionOf(arn, engine);
  if (target === undefined) return refusal(404, "ResourceNotFoundException", `Function not found: ${arn}`);
  if (type !== "RequestResponse" && type !== "Event") {
    return refusal(400, "InvalidParameterValueException", `The local gateway does not invoke as ${type}`);
  }
  if (type === "Event" && arn !== target.plan.arn) {
    const message = "The local gateway waits for an alias's answer: it does not invoke one as Event";
    return refusal(400, "InvalidParameterValueException", message);
  }
  const limit = type === "Event" ? asynchronousPayloadBytes : synchronousPayloadBytes;
  if (body.length > limit) {
    const message = `Request must be smaller than ${limit} bytes for the InvokeFunction operation`;
    return refusal(413, "RequestTooLargeException", message);
  }
  const event = body.length === 0 ? "{}" : body.toString();
  if (!isJson(event)) {
    return refusal(400, "InvalidRequestContentException", "Could not parse request body into json");
  }
  const traces = trace === undefined ? [] : [trace];
  if (type === "RequestResponse") return outcomeAnswer(await target.invoke(event, traces, undefined, arn));
  void engine?.invoker.invoke(target, event, traces);
  return payloadAnswer(202, "");
}

function outcomeAnswer(outcome: Outcome): Answer {
  switch (outcome.kind) {
    case "returned":
      return payloadAnswer(200, outcome.payload);
    case "failed":
      if (isRecursionError(outcome.error)) {
        return refusal(400, outcome.error.errorType, outcome.error.errorMessage);
      }
      return payloadAnswer(200, JSON.stringify(outcome.error), { "x-amz-function-error": "Unhandled" });
    case "throttled":
      return refusal(429, "TooManyRequestsException", "Rate Exceeded.");
  }
}

function payloadAnswer(status: number, payload: string, headers: OutgoingHttpHeaders = {}): Answer {
  return {
    status,
    headers: { "x-amzn-requestid": randomUUID(), "x-amz-executed-version": "$LATEST", ...headers },
    body: Buffer.from(payload),
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export type EventSourceMapping = {
  readonly id: string;
  readonly eventSourceArn: string;
  readonly functionArn: string;
  readonly enabled: boolean;
  /** Absent if the mapping cannot be changed here. */
  readonly setEnabled?: (enabled: boolean) => void;
};

/** Returns all matching mappings on one page. Source: Lambda API reference, "ListEventSourceMappings". */
function mappingsAnswer(target: string, mappings: readonly EventSourceMapping[]): Answer {
  const query = new URLSearchParams(target.split("?")[1]);
  const source = query.get("EventSourceArn");
  const name = query.get("FunctionName");
  const wanted = mappings.filter(
    ({ eventSourceArn, functionArn }) =>
      (source === null || eventSourceArn === source) &&
      (name === null || functionArn === name || functionArn.endsWith(`:function:${name}`)),
  );
  return jsonAnswer(200, {
    EventSourceMappings: wanted.map((mapping) =>
      configurationOf(mapping, mapping.enabled ? "Enabled" : "Disabled"),
    ),
  });
}

/** Enables or disables a stream's mapping. Source: Lambda API reference, "UpdateEventSourceMapping". */
function updateMappingAnswer(id: string, body: Buffer, mappings: readonly EventSourceMapping[]): Answer {
  const mapping = mappings.find((each) => each.id === id);
  if (mapping === undefined) {
    return refusal(404, "ResourceNotFoundException", `The resource you requested does not exist: ${id}`);
  }
  const { Enabled, UUID: _, ...others } = parseJsonObject(body.toString());
  const { setEnabled } = mapping;
  if (typeof Enabled !== "boolean" || Object.keys(others).length > 0 || setEnabled === undefined) {
    const message =
      "The local gateway only enables and disables event source mappings, of streams that are read";
    return refusal(400, "InvalidParameterValueException", message);
  }
  setEnabled(Enabled);
  return jsonAnswer(202, configurationOf(mapping, Enabled ? "Enabling" : "Disabling"));
}

function configurationOf({ id, eventSourceArn, functionArn }: EventSourceMapping, State: string): object {
  return { UUID: id, EventSourceArn: eventSourceArn, FunctionArn: functionArn, State };
}

function refusal(status: number, errorType: string, message: string): Answer {
  return errorAnswer("lambda", { status, errorType, message });
}
