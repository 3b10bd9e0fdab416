/** What a script learns from a command's exit code. */
export const exitCodes = {
  /** Something went wrong on the way; the message says what to do. */
  failed: 1,
  /** The command was used wrongly, or not confirmed: nothing was done. */
  usage: 2,
  /** There is no deployment to work on, or no access to it: nothing was done. */
  noDeployment: 3,
  /** The id was not found: nothing was done. */
  nobody: 4,
  /** A legal hold forbids it: nothing was done. */
  held: 5,
} as const;

/** An end of a command that is reported in words of our own. */
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
