import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Sandbox, type SandboxOptions, startSandbox } from "@income-events/sandbox/server.ts";
import type { Exchange } from "./api/http-api.ts";
import { readAssembly } from "./assembly/read-assembly.ts";
import { type RunningDynamoDb, startDynamoDb } from "./engines/dynamodb.ts";
import type { Credentials } from "./lambda/environment.ts";
import type { StartOptions } from "./options.ts";
import { outputOf, type PipelineOutputs, pipelineIds, pipelinesIn } from "./outputs.ts";
import { problemsOf } from "./problems.ts";
import { registerSubscribers, type SubscriberCaller } from "./stack/subscriber-callers.ts";
import { type LocalStack, startStack } from "./stack.ts";
import { synthesize } from "./synthesis/synthesize.ts";

export type Pipeline = PipelineOutputs & {
  readonly sandbox: Sandbox;
  readonly subscribers: readonly SubscriberCaller[];
};

/** The running system: the synthesized stack and a sandbox for each of its pipelines. */
export type System = Pick<Pipeline, "sandbox" | "subscribers"> & {
  readonly stack: LocalStack;
  readonly access: Access;
  /** All pipelines of the stack; the sandbox and subscribers above are those of the first. */
  readonly pipelines: readonly [Pipeline, ...Pipeline[]];
  close(): Promise<void>;
};

export type Access = {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: Credentials;
};

export type Progress = (step: string) => void;

export type Reports = {
  readonly progress: Progress;
  /** Reports an event worth keeping on screen: an alarm, a change that needs attention. */
  readonly notice: (text: string) => void;
};

/**
 * Synthesizes the stack (unless an assembly is given), starts it with a sandbox for each of its pipelines,
 * sets the sandbox's token and registers its webhooks. Closes what it started if a step fails.
 */
export async function startSystem(
  options: StartOptions,
  sandboxOptions: SandboxOptions,
  reports: Reports,
  onAnswered: (exchange: Exchange) => void,
): Promise<System> {
  const { system, register } = await startUnregistered(options, sandboxOptions, reports, onAnswered);
  await using onFailure = new AsyncDisposableStack();
  onFailure.defer(system.close);
  await register();
  onFailure.move();
  return system;
}

/**
 * Like `startSystem`, but leaves the provider unregistered so that the caller can start other things
 * meanwhile.
 */
export async function startUnregistered(
  options: StartOptions,
  sandboxOptions: SandboxOptions,
  { progress, notice }: Reports,
  onAnswered: (exchange: Exchange) => void,
): Promise<{ readonly system: System; readonly register: () => Promise<void> }> {
  await using cleanup = new AsyncDisposableStack();
  const tables = startTables(options, cleanup);
  const assembly = options.assembly ?? (await synthesizeAside(options.stage, cleanup, progress));
  const { template } = readAssembly(assembly, options.stack);
  progress("Starting the sandbox of the income-data service");
  const sandboxes = new Map<string, Sandbox>();
  for (const id of pipelineIds(Object.keys(template.Outputs))) {
    const sandbox = await startSandbox(sandboxOf(id, sandboxes.size === 0, options, sandboxOptions));
    cleanup.defer(() => sandbox.close());
    sandboxes.set(id, sandbox);
  }
  const stack = await startStack({
    assembly,
    stackName: options.stack,
    // The local sandbox replaces the stage's provider; the template takes its address as a parameter.
    parameters: Object.fromEntries(
      [...sandboxes].map(([id, { baseUrl }]) => [`${id}ProviderBaseUrl`, baseUrl]),
    ),
    apiPort: options.apiPort,
    gatewayPort: options.awsPort,
    // More processes only start slower on a two-core machine.
    maximumProcesses: options.maximumProcesses ?? 2,
    onProgress: progress,
    onAnswered,
    onAlarm: ({ state, description }) =>
      notice(state === "ALARM" ? `ALARM: ${description}` : `OK again: ${description}`),
    tables,
    keep: options.keep,
    logsDir: options.logs,
    alarmClock: options.alarmClock,
    streamRetentionSeconds: options.streamRetentionSeconds,
    deduplicationSeconds: options.deduplicationSeconds,
    shortPollMs: options.shortPollMs,
  });
  cleanup.defer(() => stack.close());
  const access = { endpoint: stack.gatewayUrl, region: stack.region, credentials: stack.operator };
  const pipelines = pipelinesIn(stack.outputs).flatMap((pipeline): Pipeline[] => {
    const sandbox = sandboxes.get(pipeline.id);
    return sandbox === undefined
      ? []
      : [{ ...pipeline, sandbox, subscribers: registerSubscribers(stack, pipeline) }];
  });
  const [first, ...others] = pipelines;
  if (first === undefined)
    throw new Error("The assembly has no output SettingsDigest: is it this pipeline's?");
  const { sandbox, subscribers } = first;
  const started = cleanup.move();
  const close = () => started.disposeAsync();
  const system: System = { sandbox, stack, access, subscribers, pipelines: [first, ...others], close };
  return { system, register: () => registerAll(system, progress) };
}

async function registerAll({ stack, pipelines }: System, progress: Progress): Promise<void> {
  progress("Setting the provider's token, registering the webhooks");
  for (const pipeline of pipelines) {
    const { token } = pipeline.sandbox;
    await stack.setSecret(outputOf(pipeline, "TokenSecretArn"), JSON.stringify({ token }));
    await register(stack, outputOf(pipeline, "RegisterFunctionName"));
  }
}

const registrationAttempts = 3;
const millisecondsBetweenAttempts = 2_000;

/** Repeats a registration that fails: on a busy machine, the sandbox may at first answer too late. */
async function register(stack: LocalStack, functionName: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await invoke(stack, functionName);
    } catch (error) {
      if (attempt === registrationAttempts) throw error;
      await delay(millisecondsBetweenAttempts);
    }
  }
}

/** Starts first: the engine takes a second and does not need the assembly. */
function startTables(
  { engine, keep }: StartOptions,
  cleanup: AsyncDisposableStack,
): Promise<RunningDynamoDb> {
  const starting = startDynamoDb({ keep, ...(engine !== undefined && { engine }) });
  // Nobody awaits it yet; the first failure is the one to report.
  const ended = starting.catch(() => undefined);
  cleanup.defer(async () => (await ended)?.close());
  return starting;
}

/** The first sandbox uses the options' ports, the others any free ones. */
function sandboxOf(
  id: string,
  isFirst: boolean,
  { keep, sandboxPort, controlPort, interface: spoken }: StartOptions,
  common: SandboxOptions,
): SandboxOptions {
  return {
    ...(spoken !== undefined && { interface: spoken }),
    ...common,
    ...(keep !== undefined && { directory: join(keep, id === "" ? "sandbox" : `sandbox-${id}`) }),
    port: isFirst ? sandboxPort : 0,
    ...(controlPort !== undefined && { controlPort: isFirst ? controlPort : 0 }),
  };
}

/**
 * Invokes a function by name and waits.
 * @throws with the function's error
 */
export async function invoke(stack: LocalStack, name: string): Promise<void> {
  const target = stack.functions.find((candidate) => candidate.name === name);
  if (target === undefined) throw new Error(`The assembly has no function ${name}`);
  const outcome = await target.invoke("{}");
  if (outcome.kind === "returned") return;
  const why = outcome.kind === "failed" ? outcome.error.errorMessage : "throttled";
  // A function reports an AWS error only by its name; the problems of the stack give the reason.
  throw new Error([`The function ${target.logicalId} failed: ${why}`, ...problemsOf(stack)].join("\n"));
}

async function synthesizeAside(
  stage: string,
  cleanup: AsyncDisposableStack,
  progress: Progress,
): Promise<string> {
  progress(`Synthesizing the stack of the stage ${stage}`);
  const directory = await mkdtemp(join(tmpdir(), "income-events-"));
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  return synthesize(stage, directory);
}
