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
