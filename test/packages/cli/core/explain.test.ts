import { expect, test } from "vitest";
import { CommandError, explain } from "../../../../packages/cli/core/command-error.ts";

const error = (name: string, message = "said AWS") => Object.assign(new Error(message), { name });

type Row = [thrown: unknown, exitCode: number, message: string];

test.each<Row>([
  [error("CredentialsProviderError"), 3, "No AWS credentials found"],
  [error("ExpiredTokenException"), 3, "have expired. Run aws sso login, or set new ones."],
  ...["UnrecognizedClientException", "InvalidAccessKeyId", "SignatureDoesNotMatch"].map(
    (name): Row => [error(name), 3, "does not accept the credentials (said AWS)"],
  ),
  [error("RequestTimeTooSkewed"), 3, "said AWS Check the clock of this machine."],
  ...["AccessDenied", "AccessDeniedException"].map(
    (name): Row => [error(name), 3, "do not allow this. said AWS"],
  ),
  ...[
    error("ResourceNotFoundException"),
    error("QueueDoesNotExist"),
    error("ValidationError", "Stack with id x does not exist"),
    error("NoSuchBucket"),
  ].map((thrown): Row => [thrown, 3, "Check that AWS_PROFILE names the stage's account"]),
  [
    error("ResourceConflictException"),
    3,
    "The stack is being deployed: said AWS Run the command again in a minute.",
  ],
  [error("ThrottlingException"), 1, "Run the command again in a minute."],
  [
    Object.assign(error("Error", "connect 127.0.0.1:1"), { code: "ECONNREFUSED" }),
    3,
    "nothing listens there",
  ],
  [Object.assign(error("Error", "getaddrinfo"), { code: "ENOTFOUND" }), 3, "Check the network."],
  [
    new SyntaxError(
      "Unexpected token '<'\n  Deserialization error: to see the raw response, inspect the hidden field",
    ),
    1,
    "Check AWS_ENDPOINT_URL.",
  ],
  [new CommandError("usage", "written wrongly"), 2, "written wrongly"],
  [error("Error", "something else"), 1, "something else"],
  ["thrown as a text", 1, "thrown as a text"],
])("%s is reported with what to do", (thrown, exitCode, message) => {
  expect(explain(thrown)).toEqual({ exitCode, message: expect.stringContaining(message) });
});
