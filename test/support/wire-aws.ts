import type { IncomingHttpHeaders } from "node:http";
import { startTestProvider } from "./test-provider.ts";

/** A service's answer, byte for byte. */
export type WireAnswer = { readonly status?: number; readonly type?: string; readonly body: string };

export type WireCall = {
  readonly action: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
};

/**
 * Stands for AWS with answers in the services' wire formats, for calls that the runner does not serve. Calls
 * without a planted answer are denied.
 */
export type WireAws = AsyncDisposable & {
  readonly url: string;
  /** Environment for calling it. */
  readonly env: Readonly<Record<string, string>>;
  readonly calls: WireCall[];
  /** By action: `DescribeStacks`, or the path of a REST call. */
  readonly answers: Map<string, WireAnswer | ((call: WireCall) => WireAnswer)>;
};

export async function startWireAws(): Promise<WireAws> {
  const calls: WireCall[] = [];
  const answers: WireAws["answers"] = new Map();
  const service = await startTestProvider();
  service.answer = ({ path, headers, body }) => {
    const call = { action: actionOf(path, headers, body), body, headers };
    calls.push(call);
    const planted = answers.get(call.action) ?? denied(call);
    const answer = typeof planted === "function" ? planted(call) : planted;
    const type = answer.type ?? (answer.body.startsWith("<") ? "text/xml" : "application/x-amz-json-1.1");
    return { status: answer.status ?? 200, headers: { "content-type": type }, text: answer.body };
  };
  return {
    url: service.url,
    env: {
      AWS_ENDPOINT_URL: service.url,
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "AKIATEST000000000000",
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_MAX_ATTEMPTS: "1",
    },
    calls,
    answers,
    [Symbol.asyncDispose]: service.close,
  };
}

/** The action: in a header for JSON protocols, in the form for the query protocol, in the path for REST. */
function actionOf(url: string, headers: WireCall["headers"], body: string): string {
  const target = headers["x-amz-target"];
  if (typeof target === "string") return target.replace(/^.*\./, "");
  return new URLSearchParams(body).get("Action") ?? url.split("?")[0]?.replace(/^.*\/operation\//, "") ?? url;
}

function denied({ action, headers }: WireCall): WireAnswer {
  const message = `User: arn:aws:iam::123456789012:user/operator is not authorized to perform: ${action}`;
  return headers["content-type"]?.includes("x-www-form-urlencoded")
    ? {
        status: 403,
        body: `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>${message}</Message></Error><RequestId>1</RequestId></ErrorResponse>`,
      }
    : { status: 400, body: JSON.stringify({ __type: "AccessDeniedException", message }) };
}
