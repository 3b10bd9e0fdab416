import { type Need, type Operation, UnknownOperationError } from "./operation.ts";

/** Subresources of a bucket or object that are not understood would otherwise pass as the plain operation. */
const knownParameters = new Set([
  "continuation-token",
  "delete",
  "delimiter",
  "encoding-type",
  "fetch-owner",
  "list-type",
  "max-keys",
  "partNumber",
  "prefix",
  "start-after",
  "uploadId",
  "uploads",
  "x-id",
]);

/** A path-style request of the REST interface. Source: S3 API reference, "Required permissions" by operation. */
export function s3Operation(
  method: string,
  target: string,
  body: Buffer,
  copySource: string | undefined,
): Operation {
  const url = new URL(target, "http://s3");
  const [bucket = "", ...keyParts] = url.pathname.slice(1).split("/").map(decodeURIComponent);
  const key = keyParts.join("/");
  const query = url.searchParams;
  const unknown = [...query.keys()].find((name) => !knownParameters.has(name));
  if (unknown !== undefined || copySource !== undefined) {
    const what = copySource === undefined ? `?${unknown}` : "copying";
    throw new UnknownOperationError(
      `s3:${method}`,
      `The local gateway does not know the S3 operation ${method} ${what}`,
    );
  }
  if (bucket === "") return operation("ListBuckets", [{ action: "s3:ListAllMyBuckets", resource: "*" }]);
  const arn = `arn:aws:s3:::${bucket}`;
  if (key !== "") {
    const [name, action] = objectOperation(method, query);
    return operation(name, [{ action, resource: `${arn}/${key}` }]);
  }
  if (method === "POST" && query.has("delete")) return operation("DeleteObjects", deletions(arn, body));
  const [name, action] = bucketOperation(method);
  return operation(name, [{ action, resource: arn }]);
}

function operation(name: string, needs: readonly Need[]): Operation {
  return { service: "s3", action: `s3:${name}`, needs };
}

function objectOperation(method: string, query: URLSearchParams): [string, string] {
  switch (method) {
    case "GET":
      return ["GetObject", "s3:GetObject"];
    case "HEAD":
      return ["HeadObject", "s3:GetObject"];
    case "PUT":
      return [query.has("uploadId") ? "UploadPart" : "PutObject", "s3:PutObject"];
    case "POST":
      return [query.has("uploads") ? "CreateMultipartUpload" : "CompleteMultipartUpload", "s3:PutObject"];
    case "DELETE":
      return query.has("uploadId")
        ? ["AbortMultipartUpload", "s3:AbortMultipartUpload"]
        : ["DeleteObject", "s3:DeleteObject"];
    default:
      throw new UnknownOperationError(
        `s3:${method}`,
        `The local gateway does not know the S3 method ${method}`,
      );
  }
}

function bucketOperation(method: string): [string, string] {
  switch (method) {
    case "GET":
      return ["ListObjectsV2", "s3:ListBucket"];
    case "HEAD":
      return ["HeadBucket", "s3:ListBucket"];
    case "PUT":
      return ["CreateBucket", "s3:CreateBucket"];
    case "DELETE":
      return ["DeleteBucket", "s3:DeleteBucket"];
    default:
      throw new UnknownOperationError(
        `s3:${method}`,
        `The local gateway does not know the S3 method ${method}`,
      );
  }
}

function deletions(bucketArn: string, body: Buffer): Need[] {
  const keys = [...body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) => decodeXml(key));
  return keys.map((key) => ({ action: "s3:DeleteObject", resource: `${bucketArn}/${key}` }));
}

function decodeXml(text: string): string {
  const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
  return text.replace(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (whole, name: string) => {
    if (name.startsWith("#x")) return String.fromCodePoint(Number.parseInt(name.slice(2), 16));
    if (name.startsWith("#")) return String.fromCodePoint(Number(name.slice(1)));
    return entities[name] ?? whole;
  });
}
