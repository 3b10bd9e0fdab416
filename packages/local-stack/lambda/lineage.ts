import { createHash, randomBytes } from "node:crypto";
import type { FunctionError } from "./protocol.ts";

/**
 * How often each function was invoked in one chain of requests, as the trace header tells it from one request to the next.
 * Source: Lambda developer guide, "Use Lambda recursive loop detection to prevent infinite loops".
 */
type Lineage = ReadonlyMap<string, number>;

/** After so many invocations in one chain Lambda stops the next one. */
export const mostInvocationsInChain = 16;
const recursionType = "RecursiveInvocationException";

/** The trace header of an invocation by requests with these headers. */
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

/** Whether requests with these headers would take a function round its loop once too often. */
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

/** A batch is of several chains: of each function the greatest count is taken. */
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
