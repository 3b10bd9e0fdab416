import { type Need, type Operation, UnknownOperationError } from "./operation.ts";

/** Subresources of a bucket or object that are not understood would otherwise pass as the plain operation. */
const knownParameters = new Set([
  "continuation-token",
  "delete",
  "delimiter",
  "encoding-type",
  "fetch-owner",
  "key-marker",
  "list-type",
  "max-keys",
  "partNumber",
  "prefix",
  "start-after",
  "uploadId",
  "uploads",
  "version-id-marker",
  "versionId",
  "versions",
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
    throw new UnknownOperationError(`s3:${method}`, `the S3 operation ${method} ${what}`);
  }
  if (bucket === "") return operation("ListBuckets", [{ action: "s3:ListAllMyBuckets", resource: "*" }]);
  const arn = `arn:aws:s3:::${bucket}`;
  const mark = ["uploadId", "uploads", "delete", "versions", "versionId"].find((parameter) =>
    query.has(parameter),
  );
  const plain = key === "" ? method : `${method} key`;
  const [name, permission] = operations[`${plain} ${mark}`] ?? operations[plain] ?? [];
  if (name === undefined || permission === undefined)
    throw new UnknownOperationError(`s3:${method}`, `the S3 method ${method}`);
  if (name === "DeleteObjects") return operation(name, deletions(arn, body));
  return operation(name, [{ action: `s3:${permission}`, resource: key === "" ? arn : `${arn}/${key}` }]);
}

function operation(name: string, needs: readonly Need[]): Operation {
  return { service: "s3", action: `s3:${name}`, needs };
}

/** Operations by what they are asked for with, and the permission that each needs. */
const operations: Readonly<Record<string, readonly [name: string, permission: string]>> = {
  "GET key": ["GetObject", "GetObject"],
  "HEAD key": ["HeadObject", "GetObject"],
  "PUT key": ["PutObject", "PutObject"],
  "PUT key uploadId": ["UploadPart", "PutObject"],
  "POST key": ["CompleteMultipartUpload", "PutObject"],
  "POST key uploads": ["CreateMultipartUpload", "PutObject"],
  "DELETE key": ["DeleteObject", "DeleteObject"],
  "DELETE key versionId": ["DeleteObject", "DeleteObjectVersion"],
  "DELETE key uploadId": ["AbortMultipartUpload", "AbortMultipartUpload"],
  GET: ["ListObjectsV2", "ListBucket"],
  "GET versions": ["ListObjectVersions", "ListBucketVersions"],
  HEAD: ["HeadBucket", "ListBucket"],
  PUT: ["CreateBucket", "CreateBucket"],
  DELETE: ["DeleteBucket", "DeleteBucket"],
  "POST delete": ["DeleteObjects", "DeleteObject"],
};

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
