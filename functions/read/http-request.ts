import { permanent } from "../../domain/core/failures.ts";
import { type Fields, fieldsOf, isFields, textOf } from "../../domain/core/parse.ts";
import type { HttpRequest } from "./reader.ts";

/**
 * Parses the event of a function URL, and refuses events that don't claim to come from one. Only policies
 * prevent a forged claim: a caller that may invoke the function directly chooses the whole event.
 * Source: Lambda developer guide, "Invoking Lambda function URLs", request payload.
 * @param functionArn of the function that answers; its account and region are the stage's
 * @throws permanent failure naming the field
 */
export function readHttpRequest(value: unknown, functionArn: string): HttpRequest {
  const event = fieldsOf(value, "event");
  const context = fieldsOf(event.requestContext, "requestContext");
  const http = fieldsOf(context.http, "requestContext.http");
  const iam = fieldsOf(fieldsOf(context.authorizer, "requestContext.authorizer").iam, "iam");
  const [, , , region = "", ownAccount = ""] = functionArn.split(":");
  const domainName = textOf(context, "domainName");
  if (!domainName.startsWith(`${textOf(context, "apiId")}.lambda-url.${region}.`))
    throw permanent("requestContext.domainName is not the address of a function's URL in this region");
  const headers = textsIn(fieldsOf(event.headers, "headers"));
  const scheme = headers["x-forwarded-proto"] ?? "https";
  return {
    method: textOf(http, "method"),
    path: textOf(event, "rawPath"),
    query: typeof event.rawQueryString === "string" ? event.rawQueryString : "",
    headers,
    caller: { accountId: textOf(iam, "accountId"), userArn: textOf(iam, "userArn") },
    ownAccount,
    documentsUrl: `${scheme}://${headers.host ?? domainName}/`,
  };
}

function textsIn(fields: Fields): Readonly<Record<string, string>> {
  if (!isFields(fields)) return {};
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      typeof value === "string" ? [[name.toLowerCase(), value]] : [],
    ),
  );
}
