import { randomUUID } from "node:crypto";
import type { Answer } from "../http-server.ts";
import { escapeXml } from "./answer.ts";
import { type Operation, UnknownOperationError } from "./operation.ts";
import type { Principal } from "./types.ts";

/**
 * Parses a call to STS. GetCallerIdentity is the one operation without a permission. Source: STS API
 * reference, "GetCallerIdentity".
 * @throws UnknownOperationError for every other operation
 */
export function stsOperation(body: string): Operation {
  const name = new URLSearchParams(body).get("Action") ?? "";
  const action = `sts:${name}`;
  if (name !== "GetCallerIdentity")
    throw new UnknownOperationError(action, `the STS operation ${name}; it knows GetCallerIdentity`);
  return { service: "sts", action, needs: [] };
}

export function stsAnswer({ arn, accessKeyId }: Principal): Answer {
  // The caller's account, which may differ from the stack's.
  const [, , , , account = ""] = arn.split(":");
  const identity = `<Arn>${escapeXml(arn)}</Arn><UserId>${accessKeyId}</UserId><Account>${account}</Account>`;
  const text =
    `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>${identity}` +
    `</GetCallerIdentityResult><ResponseMetadata><RequestId>${randomUUID()}</RequestId></ResponseMetadata></GetCallerIdentityResponse>`;
  return { status: 200, headers: { "content-type": "text/xml" }, body: Buffer.from(text) };
}
