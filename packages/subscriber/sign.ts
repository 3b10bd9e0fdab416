import { createHash, createHmac } from "node:crypto";

/** AWS credentials, as the providers of the AWS SDK return them. */
export type Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
};

type Signing = {
  /** Default: GET. */
  readonly method?: "POST";
  /** Default: no body. */
  readonly body?: string;
  readonly region: string;
  readonly credentials: Credentials;
  readonly at: Date;
  /** Further headers, which are sent and signed. */
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * The headers of a request to a Lambda function's URL, or to Lambda itself, signed with AWS Signature Version 4.
 * Source: IAM user guide, "Create a signed AWS API request".
 */
export function signedHeaders(
  url: URL,
  { method, body = "", region, credentials, at, headers = {} }: Signing,
): Readonly<Record<string, string>> {
  const time = at.toISOString().replace(/[-:]|\.\d{3}/g, "");
  const { sessionToken } = credentials;
  const token = sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken };
  const sent = { ...headers, "x-amz-date": time, ...token };
  const signed = Object.entries({ host: url.host, ...sent }).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    method ?? "GET",
    // Every service except S3 requires that the path is percent-encoded twice.
    url.pathname.split("/").map(encoded).join("/"),
    canonicalQuery(url),
    ...signed.map(([name, value]) => `${name}:${value.trim().replace(/\s+/g, " ")}`),
    "",
    names,
    sha256(body),
  ].join("\n");
  const date = time.slice(0, 8);
  const scope = `${date}/${region}/lambda/aws4_request`;
  const key = [date, region, "lambda", "aws4_request"].reduce<Uint8Array | string>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    `AWS4${credentials.secretAccessKey}`,
  );
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const signature = createHmac("sha256", key).update(text).digest("hex");
  const credential = `${credentials.accessKeyId}/${scope}`;
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function canonicalQuery({ searchParams }: URL): string {
  return [...searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join("&");
}

/** Percent-encodes as in RFC 3986: `encodeURIComponent` leaves five more characters as they are. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
