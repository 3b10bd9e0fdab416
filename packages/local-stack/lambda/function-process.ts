import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";
import { transformSync } from "esbuild";
import type { FunctionPlan } from "../assembly/plan.ts";
import type { FunctionError, Held, Invocation, ProcessMessage, RunnerMessage, Usage } from "./protocol.ts";

export type Call = {
  readonly event: string;
  readonly trace: string;
  readonly onChunk: OnChunk | undefined;
  /** ARN in the function's context. */
  readonly invokedArn: string;
};

export type InvocationOutcome =
  | { readonly kind: "returned"; readonly payload: string; readonly usage?: Usage }
  | { readonly kind: "failed"; readonly error: FunctionError };

export type OnChunk = (chunk: Buffer) => void;

export type FunctionProcess = ReturnType<typeof startFunctionProcess>;

/** Lambda's limit for importing the handler, in seconds; here the function's time-out if that is longer. */
const importingSeconds = 10;
/** Lambda's error type for a time-out. */
export const timedOutType = "Sandbox.Timedout";
const bootstrap = join(import.meta.dirname, `bootstrap${extname(import.meta.filename)}`);

/** Killed with the runner, since a busy handler may never notice that the channel closed. */
const living = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

/**
 * Starts a process for one function.
 * @param environment the complete environment of the process
 * @param onLine called for each line of stdout or stderr
 * @param shortestImport minimum seconds for importing the handler, whatever its time-out
 */
export function startFunctionProcess(
  plan: FunctionPlan,
  environment: Readonly<Record<string, string>>,
  onLine: (line: string) => void,
  shortestImport: number = importingSeconds,
) {
  const flags = [`--max-old-space-size=${plan.memoryMb}`, "--input-type=module"];
  const child = spawn(
    process.execPath,
    [...flags, "--eval", stripped(bootstrap), plan.directory, plan.handler],
    {
      cwd: plan.directory,
      env: { ...environment },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    },
  );
  living.add(child);
  child.once("exit", () => living.delete(child));
  // Without a listener, an error of the channel would throw, for example when the process is killed during a
  // send.
  child.on("error", () => child.kill("SIGKILL"));
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on("line", onLine);
  }
  const logStreamName = `${new Date().toISOString().slice(0, 10).replaceAll("-", "/")}/[$LATEST]${child.pid}`;
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  return {
    /** Resolves once the handler is imported; with the error if the import failed. */
    initialized: initialization(child, Math.max(shortestImport, plan.timeoutSeconds)),
    exited,
    kill: () => child.kill("SIGKILL"),
    /** Whether it was killed, also by its own time-out; it may exit a moment later. */
    isKilled: () => child.killed,
    /** Measures memory after a garbage collection, while idle; undefined if the process ends instead. */
    measureMemory: () => Promise.race([measured(child), exited.then(() => undefined)]),
    /** Runs one invocation; the process takes one at a time. Never rejects. */
    invoke: ({ event, trace, onChunk, invokedArn }: Call): Promise<InvocationOutcome> => {
      const requestId = randomUUID();
      const { name, memoryMb, logGroupName, timeoutSeconds } = plan;
      const invocation: Invocation = {
        kind: "invoke",
        requestId,
        event,
        trace,
        deadline: Date.now() + timeoutSeconds * 1000,
        context: {
          functionName: name,
          invokedFunctionArn: invokedArn,
          memoryLimitInMB: String(memoryMb),
          logGroupName,
          logStreamName,
        },
      };
      return runInvocation(child, invocation, timeoutSeconds, { onLine, onChunk });
    },
  };
}

function initialization(child: ChildProcess, seconds: number): Promise<FunctionError | undefined> {
  return new Promise((resolve) => {
    const end = (error: FunctionError | undefined): void => {
      clearTimeout(timer);
      child.off("message", take);
      child.off("exit", exit);
      if (error !== undefined) child.kill("SIGKILL");
      resolve(error);
    };
    const take = (message: ProcessMessage): void => {
      if (message.kind === "ready") end(undefined);
      else if (message.kind === "init-error") end(message.error);
    };
    const exit = (code: number | null, signal: string | null): void =>
      end({ errorType: "Runtime.ExitError", errorMessage: `Error: ${exitReason(code, signal)}` });
    const timer = setTimeout(() => end(timedOut("init", seconds)), seconds * 1000);
    child.on("message", take);
    child.on("exit", exit);
  });
}

function runInvocation(
  child: ChildProcess,
  invocation: Invocation,
  timeoutSeconds: number,
  { onLine, onChunk }: { readonly onLine: (line: string) => void; readonly onChunk: OnChunk | undefined },
): Promise<InvocationOutcome> {
  const { requestId } = invocation;
  // Callers that do not stream get the complete answer.
  const parts: Buffer[] = [];
  const takeChunk = onChunk ?? ((chunk: Buffer) => void parts.push(chunk));
  return new Promise((resolve) => {
    const end = (outcome: InvocationOutcome): void => {
      clearTimeout(timer);
      child.off("message", take);
      child.off("exit", exit);
      resolve(outcome);
    };
    /** Writes the runtime's own errors to the function's log, as in AWS. */
    const endByForce = (error: FunctionError): void => {
      child.kill("SIGKILL");
      onLine(`${error.errorType} ${error.errorMessage}`);
      end({ kind: "failed", error });
    };
    const take = (message: ProcessMessage): void => {
      if (message.kind === "returned" && message.requestId === requestId) {
        const { usage } = message;
        const payload = parts.length === 0 ? message.payload : Buffer.concat(parts).toString();
        end({ kind: "returned", payload, usage });
      } else if (message.kind === "chunk" && message.requestId === requestId) {
        takeChunk(Buffer.from(message.base64, "base64"));
      } else if (message.kind === "failed" && message.requestId === requestId) {
        end({ kind: "failed", error: message.error });
      }
    };
    const exit = (code: number | null, signal: string | null): void =>
      endByForce({
        errorType: "Runtime.ExitError",
        errorMessage: `RequestId: ${requestId} Error: ${exitReason(code, signal)}`,
      });
    const timer = setTimeout(() => endByForce(timedOut(requestId, timeoutSeconds)), timeoutSeconds * 1000);
    child.on("message", take);
    child.on("exit", exit);
    if (child.exitCode !== null || child.signalCode !== null) exit(child.exitCode, child.signalCode);
    else send(child, invocation);
  });
}

function measured(child: ChildProcess): Promise<Held> {
  return new Promise((resolve) => {
    const take = (message: ProcessMessage): void => {
      if (message.kind !== "memory") return;
      child.off("message", take);
      resolve(message.held);
    };
    child.on("message", take);
    send(child, { kind: "measure-memory" });
  });
}

/** Send errors are ignored: the end of the process reports them. */
function send(child: ChildProcess, message: RunnerMessage): void {
  child.send(message, () => {});
}

function timedOut(requestId: string, seconds: number): FunctionError {
  return {
    errorType: timedOutType,
    errorMessage: `RequestId: ${requestId} Error: Task timed out after ${seconds.toFixed(2)} seconds`,
  };
}

function exitReason(code: number | null, signal: string | null): string {
  if (signal === "SIGKILL") return "Runtime exited with error: signal: killed";
  if (signal !== null) return `Runtime exited with error: signal: ${signal}`;
  return code === 0
    ? "Runtime exited without providing a reason"
    : `Runtime exited with error: exit status ${code}`;
}

const known = new Map<string, string>();

/**
 * Strips a module's types. A process that does so itself uses 17 MB more and starts later, which would count
 * as the function's own.
 */
export function stripped(file: string): string {
  const kept = known.get(file);
  if (kept !== undefined) return kept;
  const { code } = transformSync(readFileSync(file, "utf8"), {
    loader: "ts",
    format: "esm",
    target: "node24",
  });
  known.set(file, code);
  return code;
}
