import { authorizationFor } from "../gateway/signature.ts";

/** Who signs a request, for what, and what goes wrong on its way. */
export type Signing = {
  readonly region?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly service?: string;
  readonly at?: Date;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly unsigned?: boolean;
  /** What the address ends with when it is sent, and did not when it was signed. */
  readonly tamper?: string;
};

/** Calls a function's URL, signed with Signature Version 4. Compressed answers are expanded by `fetch`. */
export function signedFetch(url: URL, signing: Signing): Promise<Response> {
  const { service = "lambda", region = "", at = new Date(), method = "GET", headers = {} } = signing;
  const { accessKeyId = "", secretAccessKey = "" } = signing.credentials ?? {};
  const signed = { host: url.host, "x-amz-date": at.toISOString().replace(/[-:]|\.\d{3}/g, "") };
  const request = { method, target: url.pathname + url.search, headers: signed, body: Buffer.alloc(0) };
  const authorization = authorizationFor({ accessKeyId, region, service }, request, secretAccessKey);
  const { host: _, ...sent } = signed;
  return fetch(`${url}${signing.tamper ?? ""}`, {
    method,
    redirect: "error",
    headers: { ...headers, ...(signing.unsigned ? {} : { ...sent, authorization }) },
  });
}
