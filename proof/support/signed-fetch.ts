import { authorizationFor } from "@income-events/local-stack/gateway/signature.ts";

export type Signing = {
  readonly region?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly service?: string;
  readonly at?: Date;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly unsigned?: boolean;
  /** Text appended to the address after signing, to make the signature invalid. */
  readonly tamper?: string;
};

/** Calls a function URL, signed with Signature Version 4. `fetch` decompresses the answer. */
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
