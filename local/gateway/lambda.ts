import { randomUUID } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import { type AsynchronousInvoker, asynchronousPayloadBytes } from "../lambda/asynchronous.ts";
import { type HostedFunction, type Outcome, synchronousPayloadBytes } from "../lambda/hosted-function.ts";
import { type Answer, errorAnswer } from "./answer.ts";
import { type Operation, UnknownOperationError } from "./operation.ts";

/** The functions that can be invoked, and who invokes them where nobody waits. */
export type LambdaEngine = {
  /** A stack starts its functions after its gateway, so that they come later. */
  readonly functions: ReadonlyMap<string, HostedFunction>;
  readonly invoker: Pick<AsynchronousInvoker, "invoke">;
};

type Scope = { readonly region: string; readonly account: string };

/** A function's name, also from its ARN or a part of it. */
const identifierPattern =
  /^(?:(?:arn:aws:lambda:(?<region>[a-z0-9-]+):)?(?<account>\d{12}):function:)?(?<name>[A-Za-z0-9_-]+)$/;

/**
 * The only operation is Invoke, of a function's latest version.
 * Source: Lambda API reference, "Invoke".
 */
export function lambdaOperation(method: string, target: string, scope: Scope): Operation {
  const [path = "", query = ""] = target.split("?");
  const encoded = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(path)?.[1];
  const found = identifierPattern.exec(decodeURIComponent(encoded ?? ""))?.groups;
  if (method !== "POST" || query !== "" || found === undefined) {
    throw new UnknownOperationError(
      `lambda:${method}`,
      `The local gateway does not know the Lambda operation ${method} ${target}; it knows Invoke, without a version`,
    );
  }
  const { region = scope.region, account = scope.account, name = "" } = found;
  const resource = `arn:aws:lambda:${region}:${account}:function:${name}`;
  return {
    service: "lambda",
    action: "lambda:Invoke",
    needs: [{ action: "lambda:InvokeFunction", resource }],
  };
}

/** Invokes the function; waits for its answer unless the invocation's type is Event. */
export async function invokeAnswer(
  arn: string,
  type: string,
  body: Buffer,
  engine: LambdaEngine | undefined,
): Promise<Answer> {
  const target = engine && [...engine.functions.values()].find(({ plan }) => plan.arn === arn);
  if (target === undefined) return refusal(404, "ResourceNotFoundException", `Function not found: ${arn}`);
  if (type !== "RequestResponse" && type !== "Event") {
    return refusal(400, "InvalidParameterValueException", `The local gateway does not invoke as ${type}`);
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
  if (type === "RequestResponse") return outcomeAnswer(await target.invoke(event));
  void engine?.invoker.invoke(target, event);
  return payloadAnswer(202, "");
}

function outcomeAnswer(outcome: Outcome): Answer {
  switch (outcome.kind) {
    case "returned":
      return payloadAnswer(200, outcome.payload);
    case "failed":
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

function refusal(status: number, errorType: string, message: string): Answer {
  return errorAnswer("lambda", { status, errorType, message });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
