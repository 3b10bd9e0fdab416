import { createHash, randomBytes } from "node:crypto";
import type { FunctionError } from "./protocol.ts";

/**
 * Invocations of each function in one chain of requests, as the trace header carries them.
 * Source: Lambda developer guide, "Use Lambda recursive loop detection to prevent infinite loops".
 */
type Lineage = ReadonlyMap<string, number>;

/** Maximum invocations of a function in one chain; Lambda stops the next. */
export const mostInvocationsInChain = 16;
const recursionType = "RecursiveInvocationException";

export function nextTrace(functionArn: string, traces: readonly string[]): string {
  const lineage = new Map(merged(traces));
  const id = lineageId(functionArn);
  lineage.set(id, (lineage.get(id) ?? 0) + 1);
  const time = Math.floor(Date.now() / 1000).toString(16);
  const known = [...lineage].map(([name, count]) => `${name}:${count}`).join("|");
  return [
    `Root=1-${time}-${randomBytes(12).toString("hex")}`,
    `Parent=${randomBytes(8).toString("hex")}`,
    "Sampled=0",
    `Lineage=${known}`,
  ].join(";");
}

/** Whether requests with these headers would exceed the limit of a function's loop. */
export function isLoop(functionArn: string, traces: readonly string[]): boolean {
  return (merged(traces).get(lineageId(functionArn)) ?? 0) >= mostInvocationsInChain;
}

export function recursionError(functionName: string): FunctionError {
  return {
    errorType: recursionType,
    errorMessage: `${functionName} was invoked ${mostInvocationsInChain} times in one chain of requests, and is not invoked again.`,
  };
}

export function isRecursionError({ errorType }: FunctionError): boolean {
  return errorType === recursionType;
}

/** A batch merges several chains: takes each function's highest count. */
function merged(traces: readonly string[]): Lineage {
  const counts = new Map<string, number>();
  for (const trace of traces) {
    for (const entry of (/(?:^|;)Lineage=([^;]*)/.exec(trace)?.[1] ?? "").split("|")) {
      const [id = "", count] = entry.split(":");
      if (id !== "") counts.set(id, Math.max(counts.get(id) ?? 0, Number(count)));
    }
  }
  return counts;
}

function lineageId(functionArn: string): string {
  return createHash("sha256").update(functionArn).digest("hex").slice(0, 8);
}
