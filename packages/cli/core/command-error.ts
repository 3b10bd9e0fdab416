import { oneLine } from "./text.ts";

/** Exit codes of all commands, for scripts. */
export const exitCodes = {
  /** The command failed; the message says what to do. */
  failed: 1,
  /** Wrong usage, or not confirmed; nothing was changed. */
  usage: 2,
  /** No deployment, or no access to it; nothing was changed. */
  noDeployment: 3,
  /** The id was not found; nothing was changed. */
  nobody: 4,
  /** A legal hold forbids it; nothing was changed. */
  held: 5,
} as const;

/** An expected failure of a command. Its message is shown without a stack trace. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  constructor(reason: keyof typeof exitCodes, message: string) {
    super(message);
    this.exitCode = exitCodes[reason];
  }

  static usage(message: string): CommandError {
    return new CommandError("usage", message);
  }

  static failed(message: string): CommandError {
    return new CommandError("failed", message);
  }

  static noDeployment(message: string): CommandError {
    return new CommandError("noDeployment", message);
  }
}

type Explanation = { readonly exitCode: number; readonly message: string };

const noDeployment = (message: string): Explanation => ({ exitCode: exitCodes.noDeployment, message });

/** AWS's error names for a missing resource. */
const goneNames = ["NoSuchBucket", "QueueDoesNotExist", "ResourceNotFound", "ResourceNotFoundException"];

const refusedNames =
  /^(UnrecognizedClientException|Invalid(ClientTokenId|AccessKeyId|SignatureException)|SignatureDoesNotMatch)$/;
const throttledNames = /Throttl|SlowDown|TooManyRequests|(Limit|Throughput)Exceeded/;

export function isGone(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // CloudFormation has no specific error name.
  const isStackGone = error.name === "ValidationError" && error.message.includes("does not exist");
  return goneNames.includes(error.name) || isStackGone;
}

/**
 * The reason of a failed read, for people: AWS's error, never the SDK's message about an answer that it can't
 * parse.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  const { name, message } = error;
  const isOfAws = "$fault" in error;
  if (isUnreadable(error)) return "what answered is not AWS's answer to this call";
  if (!isNotAllowed(error)) return isOfAws ? `AWS answered ${name}` : oneLine(message);
  const [, action] = / perform: (\S+)/.exec(message) ?? [];
  return `the credentials do not allow ${action ?? "it"}`;
}

/** The SDK can't parse the answer: an emulator lacks the call, or a proxy answered. */
function isUnreadable(error: Error): boolean {
  const isUnknown = "$fault" in error && ["Unknown", "UnknownError", "Error"].includes(error.name);
  return isUnknown || error instanceof SyntaxError || error.message.includes("Deserialization error");
}

export function isNotAllowed(error: unknown): error is Error {
  return error instanceof Error && ["AccessDenied", "AccessDeniedException"].includes(error.name);
}

/** Explains an error and says what to do. AWS's errors are recognized by name. */
export function explain(error: unknown): Explanation {
  if (error instanceof CommandError) return { exitCode: error.exitCode, message: error.message };
  if (!(error instanceof Error)) return { exitCode: exitCodes.failed, message: String(error) };
  if (isGone(error))
    return noDeployment(
      `${error.message} Check that AWS_PROFILE names the stage's account and that --outputs is of its last deployment.`,
    );
  if (error.name === "CredentialsProviderError")
    return noDeployment(
      `No AWS credentials found (${error.message}). Run aws sso login, or set AWS_PROFILE.`,
    );
  if (/^ExpiredToken(Exception)?$/.test(error.name))
    return noDeployment("The AWS credentials have expired. Run aws sso login, or set new ones.");
  if (/^Request(Expired|TimeTooSkewed)$/.test(error.name))
    return noDeployment(`${error.message} Check the clock of this machine.`);
  if (refusedNames.test(error.name))
    return noDeployment(
      `AWS does not accept the credentials (${error.message}). Sign in to the stage's account.`,
    );
  // Resources can't be read or changed while CloudFormation updates them.
  if (/^(ResourceConflict|ResourceInUse|TableInUse)Exception$/.test(error.name))
    return noDeployment(`The stack is being deployed: ${error.message} Run the command again in a minute.`);
  if (/^AccessDenied(Exception)?$/.test(error.name))
    return noDeployment(`The credentials do not allow this. ${error.message}`);
  if (throttledNames.test(error.name))
    return {
      exitCode: exitCodes.failed,
      message: "AWS throttles the requests. Run the command again in a minute.",
    };
  if (isUnreadable(error))
    return {
      exitCode: exitCodes.failed,
      message: "The answer is not AWS's answer to this call. Check AWS_ENDPOINT_URL.",
    };
  const code = "code" in error ? error.code : undefined;
  if (code === "ECONNREFUSED")
    return noDeployment(`${error.message}: nothing listens there. Check that it is running.`);
  if (code === "ENOTFOUND" || code === "ETIMEDOUT" || code === "EAI_AGAIN")
    return noDeployment(`${error.message}: can't reach AWS. Check the network.`);
  return { exitCode: exitCodes.failed, message: error.message };
}
