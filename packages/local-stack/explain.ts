/** A start that failed, in words that say what to do. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE" || /^Port \d+ is in use/.test(error.message)) {
    return `${error.message}\nEnd the program that uses it, or choose others with --api-port, --aws-port and --sandbox-port.`;
  }
  if (code === "ENOSPC") {
    return `The disk is full (${error.message}).\nFree some space where the temporary directory and the JSON file are.`;
  }
  return error.message;
}
