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

/** AWS's error names for a missing resource. */
const goneNames = ["NoSuchBucket", "QueueDoesNotExist", "ResourceNotFound", "ResourceNotFoundException"];

const throttledNames = /Throttl|SlowDown|TooManyRequests|(Limit|Throughput)Exceeded/;

/** Explanations of errors by AWS's name or the code of a connection's error; nothing was changed. */
const explanations: readonly (readonly [name: RegExp, explain: (message: string) => string])[] = [
  [
    /^CredentialsProviderError$/,
    (message) => `No AWS credentials found (${message}). Run aws sso login, or set AWS_PROFILE.`,
  ],
  [
    /^ExpiredToken(Exception)?$/,
    () => "The AWS credentials have expired. Run aws sso login, or set new ones.",
  ],
  [/^Request(Expired|TimeTooSkewed)$/, (message) => `${message} Check the clock of this machine.`],
  [
    /^(UnrecognizedClientException|Invalid(ClientTokenId|AccessKeyId|SignatureException)|SignatureDoesNotMatch)$/,
    (message) => `AWS does not accept the credentials (${message}). Sign in to the stage's account.`,
  ],
  // Resources can't be read or changed while CloudFormation updates them.
  [
    /^(ResourceConflict|ResourceInUse|TableInUse)Exception$/,
    (message) => `The stack is being deployed: ${message} Run the command again in a minute.`,
  ],
  [/^AccessDenied(Exception)?$/, (message) => `The credentials do not allow this. ${message}`],
  [/^ECONNREFUSED$/, (message) => `${message}: nothing listens there. Check that it is running.`],
  [/^(ENOTFOUND|ETIMEDOUT|EAI_AGAIN)$/, (message) => `${message}: can't reach AWS. Check the network.`],
];

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
export function explain(error: unknown): { readonly exitCode: number; readonly message: string } {
  if (error instanceof CommandError) return { exitCode: error.exitCode, message: error.message };
  const failed = (message: string) => ({ exitCode: exitCodes.failed, message });
  if (!(error instanceof Error)) return failed(String(error));
  const noDeployment = (message: string) => ({ exitCode: exitCodes.noDeployment, message });
  if (isGone(error))
    return noDeployment(
      `${error.message} Check that AWS_PROFILE names the stage's account and that --outputs is of its last deployment.`,
    );
  const code = "code" in error ? String(error.code) : "";
  const known = explanations.find(([name]) => name.test(error.name) || name.test(code));
  if (known !== undefined) return noDeployment(known[1](error.message));
  if (throttledNames.test(error.name))
    return failed("AWS throttles the requests. Run the command again in a minute.");
  if (isUnreadable(error))
    return failed("The answer is not AWS's answer to this call. Check AWS_ENDPOINT_URL.");
  return failed(error.message);
}
