/**
 * Runs in a function's own process as Lambda's runtime: imports the handler from the bundle once, then
 * handles one invocation at a time. Its last arguments are the bundle's directory and the handler.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { FunctionError, Held, Invocation, ProcessMessage, RunnerMessage, Usage } from "./protocol.ts";

type Handler = ((event: unknown, context: unknown) => unknown) & { readonly [streaming]?: "response" };

/**
 * Property by which the runtime recognizes a streaming handler. Source:
 * aws-lambda-nodejs-runtime-interface-client, src/UserFunction.js.
 */
const streaming = Symbol.for("aws.lambda.runtime.handler.streaming");
const metadataType = "application/vnd.awslambda.http-integration-response";
const endOfMetadata = Buffer.alloc(8);

class RuntimeError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** Sends written data to the runner in chunks, with backpressure. */
class ResponseStream extends Writable {
  readonly #requestId: string;
  #beforeFirstWrite: Buffer | undefined;

  constructor(requestId: string) {
    super();
    this.#requestId = requestId;
  }

  /** A trap, as in Lambda: the metadata is sent only with the first write, which may be empty. */
  static from(stream: ResponseStream, metadata: object): ResponseStream {
    stream.setContentType(metadataType);
    stream.#beforeFirstWrite = Buffer.concat([Buffer.from(JSON.stringify(metadata)), endOfMetadata]);
    return stream;
  }

  setContentType(_type: string): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const all = this.#beforeFirstWrite === undefined ? chunk : Buffer.concat([this.#beforeFirstWrite, chunk]);
    this.#beforeFirstWrite = undefined;
    const base64 = all.toString("base64");
    toRunner?.({ kind: "chunk", requestId: this.#requestId, base64 }, undefined, undefined, done);
  }
}

Object.assign(globalThis, {
  awslambda: {
    streamifyResponse: (handle: Handler) => Object.assign(handle, { [streaming]: "response" }),
    HttpResponseStream: ResponseStream,
  },
});

const [directory = "", handlerName = ""] = process.argv.slice(-2);
const toRunner = process.send?.bind(process);
// As in Lambda, the function's code must not find the runner's channel.
Object.assign(process, { send: undefined, disconnect: undefined });
// The runner has gone, and nobody else would end this process.
process.on("disconnect", () => process.exit(0));

let currentRequest: string | undefined;

process.on("uncaughtException", (error) => {
  writeErrorLine(error);
  failAndExit(describe(error), 129);
});
process.on("unhandledRejection", (reason) => {
  writeErrorLine(reason);
  const { errorMessage, trace } = describe(reason);
  failAndExit({ errorType: "Runtime.UnhandledPromiseRejection", errorMessage, ...(trace && { trace }) }, 128);
});

const handler = await load().catch((error: unknown) => {
  send({ kind: "init-error", error: initError(error) });
});
if (handler !== undefined) {
  process.on("message", (message: RunnerMessage) => {
    if (message.kind === "invoke") void answer(handler, message);
    else send({ kind: "memory", held: measureMemory() });
  });
  send({ kind: "ready" });
}

async function load(): Promise<Handler> {
  const dot = handlerName.lastIndexOf(".");
  const stem = join(directory, handlerName.slice(0, dot));
  const file = [".mjs", ".js", ".cjs"].map((ending) => stem + ending).find((path) => existsSync(path));
  if (file === undefined) throw new RuntimeError("Runtime.ImportModuleError", `Cannot find module '${stem}'`);
  const loaded: unknown = await import(pathToFileURL(file).href);
  const found = exportOf(loaded, handlerName.slice(dot + 1));
  if (isHandler(found)) return found;
  throw new RuntimeError("Runtime.HandlerNotFound", `${handlerName} is undefined or not exported`);
}

function exportOf(loaded: unknown, name: string): unknown {
  const exports = new Map(Object.entries(Object(loaded)));
  return exports.get(name) ?? new Map(Object.entries(Object(exports.get("default")))).get(name);
}

function isHandler(value: unknown): value is Handler {
  return typeof value === "function";
}

async function answer(handle: Handler, invocation: Invocation): Promise<void> {
  const { requestId } = invocation;
  currentRequest = requestId;
  process.env._X_AMZN_TRACE_ID = invocation.trace;
  const before = { cpu: process.cpuUsage(), at: performance.now() };
  try {
    const payload = await payloadOf(handle, invocation);
    currentRequest = undefined;
    send({ kind: "returned", requestId, payload, usage: usageSince(before) });
  } catch (error) {
    writeErrorLine(error);
    currentRequest = undefined;
    send({ kind: "failed", requestId, error: describe(error) });
  }
}

/** @returns JSON; empty if the function streamed its answer */
async function payloadOf(handle: Handler, invocation: Invocation): Promise<string> {
  const event: unknown = JSON.parse(invocation.event);
  if (handle[streaming] === undefined)
    return JSON.stringify(await handle(event, contextOf(invocation))) ?? "null";
  const stream = new ResponseStream(invocation.requestId);
  const isSent = finished(stream);
  // The handler's own error is thrown first.
  isSent.catch(() => undefined);
  const run: (...args: unknown[]) => unknown = handle;
  await run(event, stream, contextOf(invocation));
  stream.end();
  await isSent;
  return "";
}

function usageSince({ cpu, at }: { readonly cpu: NodeJS.CpuUsage; readonly at: number }): Usage {
  const { user, system } = process.cpuUsage(cpu);
  return { cpuMicros: user + system, millis: performance.now() - at, maxResidentBytes: maxResidentBytes() };
}

/**
 * Measures memory after a garbage collection, which Lambda never forces: measurements taken meanwhile are not
 * representative.
 */
function measureMemory(): Held {
  setFlagsFromString("--expose-gc");
  const collectGarbage: unknown = runInNewContext("gc");
  // The first collection leaves buffers to be swept; the second waits for that.
  for (const _time of [1, 2]) if (typeof collectGarbage === "function") collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return { liveBytes: heapUsed + external, maxResidentBytes: maxResidentBytes() };
}

/** A trap: the kernel's `maxRSS` of a process starts with its parent's. */
function maxResidentBytes(): number {
  const kilobytes =
    process.platform === "linux"
      ? Number(/VmHWM:\s*(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1])
      : process.resourceUsage().maxRSS;
  return kilobytes * 1024;
}

function contextOf({ requestId, deadline, context }: Invocation): object {
  return {
    ...context,
    awsRequestId: requestId,
    functionVersion: "$LATEST",
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}

function initError(error: unknown): FunctionError {
  const described = describe(error);
  const isMissing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
  if (isMissing) return { ...described, errorType: "Runtime.ImportModuleError" };
  if (error instanceof SyntaxError) return { ...described, errorType: "Runtime.UserCodeSyntaxError" };
  return described;
}

function describe(error: unknown): FunctionError {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  return {
    errorType: error.name,
    errorMessage: error.message,
    trace: (error.stack ?? "").split("\n"),
  };
}

/**
 * Writes an error as Lambda's runtime does in JSON logs: with all its own properties, which may reveal more
 * than its message. Source: aws-lambda-nodejs-runtime-interface-client, src/Errors.js and src/LogPatch.js.
 */
function writeErrorLine(thrown: unknown): void {
  const common = { timestamp: new Date().toISOString(), level: "ERROR", requestId: currentRequest };
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  process.stdout.write(`${lineOf(common, error)}\n`);
}

function lineOf(common: object, error: Error): string {
  try {
    return JSON.stringify({ ...common, message: error }, (_, value: unknown) =>
      value instanceof Error ? withAll(value) : value,
    );
  } catch {
    return JSON.stringify({ ...common, message: String(error) });
  }
}

function withAll(error: Error): object {
  const { message: errorMessage, stack = "" } = error;
  return { errorType: error.constructor.name, errorMessage, stackTrace: stack.split("\n"), ...error };
}

function failAndExit(error: FunctionError, code: number): void {
  const message: ProcessMessage =
    currentRequest === undefined
      ? { kind: "init-error", error }
      : { kind: "failed", requestId: currentRequest, error };
  send(message, () => process.exit(code));
}

function send(message: ProcessMessage, then?: () => void): void {
  toRunner?.(message, undefined, undefined, () => then?.());
}
