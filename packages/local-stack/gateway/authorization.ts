import type { IncomingMessage } from "node:http";
import { askQueue, type EngineClient } from "../engines/engine-client.ts";
import { asksForTags, tagContext } from "../iam/policy.ts";
import type { AccessBook } from "./access.ts";
import { accessDenied } from "./answer.ts";
import { type IdentifyContext, identify } from "./identify.ts";
import { asObject, asString, type Operation, parseJsonObject, UnknownOperationError } from "./operation.ts";
import { parseAuthorization, type SignatureClaim, type SignedRequest, verifySignature } from "./signature.ts";
import type { Fault, Principal, Service } from "./types.ts";

/** A complete request that is not yet authenticated. */
export type ReceivedRequest = {
  readonly message: IncomingMessage;
  readonly body: Buffer;
  readonly claim: SignatureClaim | undefined;
  readonly service: Service | undefined;
};

export type AuthorizationContext = IdentifyContext & {
  readonly access: AccessBook;
  readonly engines: { readonly sqs: EngineClient };
};

/**
 * Identifies the caller by its access key and verifies the signature; otherwise returns the service's error.
 */
export function authenticate(
  { message, body, claim, service }: ReceivedRequest,
  { access, scope: { region } }: AuthorizationContext,
): Principal | Fault {
  const isS3 = service === "s3";
  if (claim === undefined) {
    return {
      status: 403,
      errorType: isS3 ? "AccessDenied" : "MissingAuthenticationTokenException",
      message: "The request has no Signature Version 4 in its Authorization header.",
    };
  }
  const principal = access.principal(claim.accessKeyId);
  if (principal === undefined) {
    return {
      status: 403,
      errorType: isS3 ? "InvalidAccessKeyId" : "UnrecognizedClientException",
      message: "The access key id is not registered with the local gateway.",
    };
  }
  const signed = { method: message.method ?? "", target: message.url ?? "", headers: message.headers, body };
  // An operator's tools may use any region, as there is only one here. Functions get the region from their
  // environment.
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

/** Maximum age of a signature for a function URL, which is also the tolerated clock skew. */
const signatureLifeInMillis = 5 * 60_000;

/** Identifies the caller of a function URL: the signature must be for Lambda and recent. */
export function identifyCaller(
  { method, target, headers, body }: SignedRequest,
  { access, scope: { region } }: Pick<AuthorizationContext, "access" | "scope">,
  now: number,
): Principal | Fault {
  const refused = (message: string, errorType = "InvalidSignatureException"): Fault => {
    return { status: 403, errorType, message };
  };
  const claim = parseAuthorization(headers.authorization);
  if (claim === undefined)
    return refused("Missing Authentication Token", "MissingAuthenticationTokenException");
  const principal = access.principal(claim.accessKeyId);
  if (principal === undefined) {
    return refused("The security token included in the request is invalid.", "UnrecognizedClientException");
  }
  const signedAt = timeOf(headers["x-amz-date"]?.toString() ?? "");
  if (signedAt === undefined || Math.abs(now - signedAt) > signatureLifeInMillis)
    return refused("Signature expired");
  if (claim.region !== region || claim.service !== "lambda")
    return refused("Credential should be scoped to correct service: 'lambda', and to a valid region.");
  // An unsigned host could let the request be replayed on another host.
  if (!claim.signedHeaders.includes("host")) return refused("'Host' must be a signed header.");
  if (verifySignature(claim, { method, target, headers, body }, principal.secretAccessKey)) return principal;
  return refused("The request signature we calculated does not match the signature you provided.");
}

/** Parses `20261124T010203Z` to milliseconds since 1970. */
function timeOf(date: string): number | undefined {
  const iso = date.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, "$1-$2-$3:$4:$5");
  const time = Date.parse(iso);
  return Number.isNaN(time) ? undefined : time;
}

/** Identifies the operation and checks the caller's permissions; otherwise returns the service's error. */
export async function authorize(
  { message, body, service }: ReceivedRequest,
  caller: Principal,
  context: AuthorizationContext,
): Promise<Operation | Fault> {
  try {
    const identified = identify(message, body, service, context);
    const operation = await withQueueTags(identified, caller, context.engines.sqs);
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
      resource: message.url ?? "",
      reason: error.message,
    });
    return {
      status: 403,
      errorType: service === "s3" ? "AccessDenied" : "AccessDeniedException",
      message: error.message,
    };
  }
}

/** AWS's wording of a denial: the caller, the action, the resource and the reason. */
export function denialMessage(
  caller: Principal,
  need: { action: string; resource: string; reason: string },
): string {
  return (
    `User: ${caller.arn} is not authorized to perform: ${need.action} on resource: ${need.resource} ` +
    `because ${need.reason}`
  );
}

/** Adds the tags of the operation's queue if the caller's policies depend on tags. */
async function withQueueTags(
  operation: Operation,
  { policies }: Principal,
  sqs: EngineClient,
): Promise<Operation> {
  if (operation.service !== "sqs" || policies === "all" || !asksForTags(policies)) return operation;
  const needs = operation.needs.map(async (need) => ({
    ...need,
    context: { ...need.context, ...tagContext(await tagsOf(need.resource, sqs)) },
  }));
  return { ...operation, needs: await Promise.all(needs) };
}

/** @param arn of a queue, or `*`. A missing queue has no tags. */
async function tagsOf(arn: string, sqs: EngineClient): Promise<Readonly<Record<string, string>>> {
  const [account, name] = arn.split(":").slice(4);
  if (name === undefined) return {};
  const answer = await askQueue(sqs, "ListQueueTags", {
    QueueUrl: `http://queues.invalid/${account}/${name}`,
  });
  if (answer.status !== 200) return {};
  const tags = asObject(parseJsonObject(answer.body.toString()).Tags);
  return Object.fromEntries(Object.entries(tags).map(([key, value]) => [key, asString(value)]));
}
