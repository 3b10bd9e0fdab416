import { randomUUID } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import type { Answer } from "../http-server.ts";
import type { Fault, Service } from "./types.ts";

export function errorAnswer(service: Service | undefined, fault: Fault): Answer {
  if (service === "s3") {
    const text =
      `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${escapeXml(fault.errorType)}</Code>` +
      `<Message>${escapeXml(fault.message)}</Message></Error>`;
    return { status: fault.status, headers: { "content-type": "application/xml" }, body: Buffer.from(text) };
  }
  if (service === "sts" || service === "cloudformation") {
    const text = `<ErrorResponse><Error><Type>Sender</Type><Code>${escapeXml(fault.errorType)}</Code><Message>${escapeXml(fault.message)}</Message></Error></ErrorResponse>`;
    return { status: fault.status, headers: { "content-type": "text/xml" }, body: Buffer.from(text) };
  }
  return jsonAnswer(
    fault.status,
    { __type: fault.errorType, message: fault.message, Message: fault.message },
    errorHeaders(service, fault),
  );
}

/** Error headers for services whose clients read the error code there. */
function errorHeaders(service: Service | undefined, { errorType, status }: Fault): OutgoingHttpHeaders {
  switch (service) {
    case "sqs":
      // Compatibility header of SQS's former query protocol.
      return { "x-amzn-query-error": `${errorType};${status < 500 ? "Sender" : "Receiver"}` };
    case "lambda":
      return { "x-amzn-errortype": errorType };
    default:
      return {};
  }
}

export function jsonAnswer(status: number, content: unknown, headers: OutgoingHttpHeaders = {}): Answer {
  return {
    status,
    headers: { "content-type": "application/x-amz-json-1.0", "x-amzn-requestid": randomUUID(), ...headers },
    body: Buffer.from(JSON.stringify(content)),
  };
}

/** Changes the body of a successful answer. */
export function rewrite(answer: Answer, change: ((body: string) => string) | undefined): Answer {
  if (change === undefined || answer.status !== 200) return answer;
  const { "x-amz-crc32": _checksum, ...headers } = answer.headers;
  return { status: 200, headers, body: Buffer.from(change(answer.body.toString())) };
}

export function accessDenied(service: Service | undefined, message: string): Fault {
  switch (service) {
    case "s3":
    case "sts":
    case "cloudformation":
      return { status: 403, errorType: "AccessDenied", message };
    case "sqs":
    case "lambda":
    case undefined:
      return { status: 403, errorType: "AccessDeniedException", message };
    case "dynamodb":
    case "streams":
    case "secretsmanager":
    case "cloudwatch":
    case "logs":
      return { status: 400, errorType: "AccessDeniedException", message };
  }
}

export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
