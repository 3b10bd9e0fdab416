/**
 * Requests and responses in the payload format 2.0 of HTTP APIs.
 *
 * Source: API Gateway developer guide, "Create AWS Lambda proxy integrations for HTTP APIs".
 */

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { z } from "zod";
import type { Answer } from "../http-server.ts";

export type ReceivedRequest = {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** Alternating names and values, as received. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly sourceIp: string;
};

export type Route = {
  readonly key: string;
  readonly parameters: Readonly<Record<string, string>>;
};

export function receivedRequest(request: IncomingMessage, body: Buffer): ReceivedRequest {
  const { method = "", url = "/", rawHeaders, socket } = request;
  return { method, target: url, rawHeaders, body, sourceIp: socket.remoteAddress ?? "127.0.0.1" };
}

export function httpEvent(request: ReceivedRequest, route: Route, apiId: string, now: Date) {
  const [rawPath = "/", ...query] = request.target.split("?");
  const rawQueryString = query.join("?");
  const headers = joinHeaders(request.rawHeaders);
  const { cookie, ...others } = headers;
  const cookies = cookie?.split(/;\s*/);
  const isBinary = !isText(headers["content-type"], request.body);
  const parameters = new URLSearchParams(rawQueryString);
  const queryStringParameters = Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name).join(",")]),
  );
  return {
    version: "2.0",
    routeKey: route.key,
    rawPath,
    rawQueryString,
    ...(cookies && { cookies }),
    headers: others,
    ...(rawQueryString !== "" && { queryStringParameters }),
    ...(Object.keys(route.parameters).length > 0 && { pathParameters: route.parameters }),
    requestContext: {
      accountId: "anonymous",
      apiId,
      domainName: headers.host ?? "localhost",
      domainPrefix: apiId,
      http: {
        method: request.method,
        path: rawPath,
        protocol: "HTTP/1.1",
        sourceIp: request.sourceIp,
        userAgent: headers["user-agent"] ?? "",
      },
      requestId: randomUUID(),
      routeKey: route.key,
      stage: "$default",
      time: now.toUTCString(),
      timeEpoch: now.getTime(),
    },
    ...(request.body.length > 0 && { body: request.body.toString(isBinary ? "base64" : "utf8") }),
    isBase64Encoded: isBinary && request.body.length > 0,
  };
}

/** Lowercases header names and joins repeated headers with a comma (cookies with a semicolon). */
function joinHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    const value = rawHeaders[index + 1] ?? "";
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}${name === "cookie" ? "; " : ","}${value}`;
  }
  return headers;
}

const textTypes = /^(text\/|application\/(json|javascript|xml|x-www-form-urlencoded)\b|[^;]*\+(json|xml)\b)/i;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Whether the body is passed as text: the content type says so and decoding loses no byte. */
function isText(contentType: string | undefined, body: Buffer): boolean {
  if (contentType === undefined || !textTypes.test(contentType)) return false;
  try {
    utf8.decode(body);
    return true;
  } catch {
    return false;
  }
}

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const responseSchema = z.object({
  statusCode: z.coerce.number().int().min(100).max(599),
  headers: z.record(z.string(), scalar).nullish(),
  cookies: z.array(z.string()).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
});

/**
 * Converts a function's result to an HTTP answer: as given if it has a statusCode, else 200 with the result
 * as JSON.
 * @param payload JSON text
 */
export function httpAnswer(payload: string): Answer {
  const result: unknown = JSON.parse(payload);
  const hasStatus = typeof result === "object" && result !== null && "statusCode" in result;
  if (!hasStatus) {
    const body = typeof result === "string" ? result : payload;
    return jsonAnswer(200, result === null ? "" : body);
  }
  const response = responseSchema.safeParse(result);
  if (!response.success) return messageAnswer(500, "Internal Server Error");
  const { statusCode, headers, cookies, body, isBase64Encoded } = response.data;
  const lowerCase = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    status: statusCode,
    headers: {
      "content-type": "text/plain;charset=UTF-8",
      ...Object.fromEntries(lowerCase),
      ...(cookies && cookies.length > 0 && { "set-cookie": cookies }),
    },
    body: Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8"),
  };
}

export function messageAnswer(status: number, message: string): Answer {
  return jsonAnswer(status, JSON.stringify({ message }));
}

function jsonAnswer(status: number, body: string): Answer {
  return { status, headers: { "content-type": "application/json" }, body: Buffer.from(body) };
}
