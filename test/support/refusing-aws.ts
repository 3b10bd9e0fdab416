import { createServer } from "node:http";
import { errorAnswer } from "@income-events/local-stack/gateway/answer.ts";
import { serviceOf } from "@income-events/local-stack/gateway/identify.ts";
import { parseAuthorization } from "@income-events/local-stack/gateway/signature.ts";
import type { Fault, Service } from "@income-events/local-stack/gateway/types.ts";
import { closeServer, listen } from "@income-events/local-stack/http-server.ts";

/** Stands for AWS and refuses every call. */
export type RefusingAws = AsyncDisposable & {
  readonly url: string;
  /** The called services, call by call. */
  readonly calls: Service[];
  /** Sets the error, in each service's own format. */
  refuse: (service: Service) => Fault;
};

export async function startRefusingAws(): Promise<RefusingAws> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const service = serviceOf(request, parseAuthorization(request.headers.authorization)?.service ?? "");
      if (service === undefined) {
        // A port may be reused from a process whose clients still call it.
        response.writeHead(400).end("not a service that is known");
        return;
      }
      aws.calls.push(service);
      const { status, headers, body } = errorAnswer(service, aws.refuse(service));
      response.writeHead(status, headers).end(body);
    });
  });
  const port = await listen(server);
  const aws: RefusingAws = {
    url: `http://127.0.0.1:${port}`,
    calls: [],
    refuse: () => ({ status: 500, errorType: "InternalFailure", message: "not told how to refuse" }),
    [Symbol.asyncDispose]: () => closeServer(server),
  };
  return aws;
}

export const expired = (service: Service): Fault => {
  const message = "The security token included in the request is expired";
  return service === "s3" || service === "sqs" || service === "cloudformation"
    ? { status: service === "s3" ? 400 : 403, errorType: "ExpiredToken", message }
    : { status: service === "lambda" ? 403 : 400, errorType: "ExpiredTokenException", message };
};

export const throttled = (service: Service): Fault => {
  switch (service) {
    case "cloudformation":
      return { status: 400, errorType: "Throttling", message: "Rate exceeded" };
    case "s3":
      return { status: 503, errorType: "SlowDown", message: "Please reduce your request rate." };
    case "sqs":
      return { status: 403, errorType: "RequestThrottled", message: "Request is throttled." };
    case "lambda":
      return { status: 429, errorType: "TooManyRequestsException", message: "Rate exceeded" };
    default:
      return { status: 400, errorType: "ThrottlingException", message: "Rate exceeded" };
  }
};

export const gone = (service: Service): Fault => {
  switch (service) {
    case "cloudformation":
      return { status: 400, errorType: "ValidationError", message: "Stack with id x does not exist" };
    case "s3":
      return { status: 404, errorType: "NoSuchBucket", message: "The specified bucket does not exist" };
    case "sqs":
      return { status: 400, errorType: "QueueDoesNotExist", message: "The specified queue does not exist." };
    default:
      return {
        status: 400,
        errorType: "ResourceNotFoundException",
        message: "Requested resource not found.",
      };
  }
};
