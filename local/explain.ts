/** A start that failed, in words that say what to do. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? error.code : undefined;
  switch (code) {
    case "EADDRINUSE":
      return `${error.message}\nAnother program uses that port: end it, or choose others with --api-port, --aws-port and --sandbox-port.`;
    case "ENOSPC":
      return `The disk is full (${error.message}).\nFree some space where the temporary directory and the JSON file are, and start again.`;
    default:
      return error.message;
  }
}
