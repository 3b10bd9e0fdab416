import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Claims of a Signature Version 4 Authorization header. */
export type SignatureClaim = {
  readonly accessKeyId: string;
  readonly date: string;
  readonly region: string;
  /** The signing name, for example `sqs`. */
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
};

export type SignedRequest = {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

const authorizationPattern =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8})\/([^/,\s]+)\/([^/,\s]+)\/aws4_request,\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/;

/** Parses the Authorization header; returns undefined if it is missing or has another form. */
export function parseAuthorization(header: string | undefined): SignatureClaim | undefined {
  const [, accessKeyId, date, region, service, signedHeaders, signature] =
    authorizationPattern.exec(header ?? "") ?? [];
  if (!accessKeyId || !date || !region || !service || !signedHeaders || !signature) return undefined;
  return { accessKeyId, date, region, service, signedHeaders: signedHeaders.split(";"), signature };
}

/**
 * Whether the request was signed with this secret key and its body is the signed one. Does not check the
 * signature's age.
 * Source: IAM user guide, "Create a signed AWS API request".
 */
export function verifySignature(
  claim: SignatureClaim,
  request: SignedRequest,
  secretAccessKey: string,
): boolean {
  const declared = single(request.headers["x-amz-content-sha256"]);
  const isHash = declared !== undefined && /^[0-9a-f]{64}$/.test(declared);
  if (isHash && declared !== sha256(request.body)) return false;
  const expected = sign(claim, request, declared ?? sha256(request.body), secretAccessKey);
  return timingSafeEqual(Buffer.from(expected), Buffer.from(claim.signature));
}

/** Creates the Authorization header of a request; its headers must include `host` and `x-amz-date`. */
export function authorizationFor(
  scope: { readonly accessKeyId: string; readonly region: string; readonly service: string },
  request: SignedRequest,
  secretAccessKey: string,
): string {
  const date = (single(request.headers["x-amz-date"]) ?? "").slice(0, 8);
  const signedHeaders = Object.keys(request.headers).sort();
  const signature = sign({ ...scope, date, signedHeaders }, request, sha256(request.body), secretAccessKey);
  return (
    `AWS4-HMAC-SHA256 Credential=${scope.accessKeyId}/${date}/${scope.region}/${scope.service}/aws4_request, ` +
    `SignedHeaders=${signedHeaders.join(";")}, Signature=${signature}`
  );
}

function sign(
  claim: Pick<SignatureClaim, "date" | "region" | "service" | "signedHeaders">,
  request: SignedRequest,
  payloadHash: string,
  secretAccessKey: string,
): string {
  const [path = "/", query = ""] = splitTarget(request.target);
  const headers = claim.signedHeaders
    .map((name) => `${name}:${canonicalValue(request.headers[name])}\n`)
    .join("");
  const canonical = [
    request.method,
    // A trap: every service but S3 encodes the path once more.
    claim.service === "s3" ? path : path.split("/").map(encoded).join("/"),
    canonicalQuery(query),
    headers,
    claim.signedHeaders.join(";"),
    payloadHash,
  ].join("\n");
  const text = [
    "AWS4-HMAC-SHA256",
    single(request.headers["x-amz-date"]) ?? "",
    `${claim.date}/${claim.region}/${claim.service}/aws4_request`,
    sha256(canonical),
  ].join("\n");
  return createHmac("sha256", signingKey(claim, secretAccessKey)).update(text).digest("hex");
}

const signingKeys = new Map<string, KeyObject>();
const signingKeysKept = 1000;

/** Caches the signing key, four digests that are the same for a day. */
function signingKey(
  claim: Pick<SignatureClaim, "date" | "region" | "service">,
  secretAccessKey: string,
): KeyObject {
  const name = `${secretAccessKey} ${claim.date} ${claim.region} ${claim.service}`;
  const known = signingKeys.get(name);
  if (known !== undefined) return known;
  const key = [claim.date, claim.region, claim.service, "aws4_request"].reduce<Buffer>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    Buffer.from(`AWS4${secretAccessKey}`),
  );
  const kept = createSecretKey(key);
  if (signingKeys.size >= signingKeysKept) signingKeys.clear();
  signingKeys.set(name, kept);
  return kept;
}

function splitTarget(target: string): [string, string] {
  const mark = target.indexOf("?");
  return mark === -1 ? [target, ""] : [target.slice(0, mark), target.slice(mark + 1)];
}

/** Percent-encodes by RFC 3986; `encodeURIComponent` leaves five more characters unescaped. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

function canonicalQuery(query: string): string {
  return query
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => (pair.includes("=") ? pair : `${pair}=`))
    .sort()
    .join("&");
}

function canonicalValue(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value.join(",") : (value ?? "")).trim().replace(/\s+/g, " ");
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}

function sha256(data: Buffer | string): string {
  return hash("sha256", data, "hex");
}
