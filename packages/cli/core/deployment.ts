import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fieldsOf, parseJson } from "../../../domain/core/parse.ts";
import { CommandError } from "./command-error.ts";
import { type AwsPlace, checkAddresses, hasOwnEndpoint, placeOfArn } from "./own-addresses.ts";
import { type DeployedPipeline, isMeant, nameOf, pipelinesIn, resourcesOf } from "./pipelines.ts";
import { findRunningSystems, type LocalPlace, parseOutputs, type RunningSystem } from "./running-systems.ts";
import { commandLine } from "./text.ts";

/** A stage in an AWS account or on this machine. */
export type Deployment = {
  readonly stage: string;
  readonly stack: string;
  /** Prefix of its resources' names: the stack's name and the construct's id. */
  readonly resourcePrefix: string;
  /** Selects the logical ids of its resources among those of its stack. */
  readonly resources: RegExp;
  /**
   * Settings of the AWS clients. A local system has an endpoint and credentials; in AWS the SDK's defaults
   * apply.
   */
  readonly client: { readonly region: string } & Partial<Pick<RunningSystem, "endpoint" | "credentials">>;
  /** @throws CommandError if the stack has no such output */
  readonly output: (name: string) => string;
  /** Undefined if the stage's settings leave that part out. */
  readonly optionalOutput: (name: string) => string | undefined;
  /** Set for a local system; undefined in AWS. */
  readonly local?: LocalPlace;
};

export type DeploymentOptions = {
  readonly stage?: string;
  readonly outputs?: string;
  /** Selects one of several pipelines: the construct's id, or stack and id. */
  readonly pipeline?: string;
  /** A port of the local system, or the directory that it was started in. */
  readonly local?: string;
};

/** The flags that select a deployment, as typed. */
export function deploymentFlags(options: DeploymentOptions): readonly string[] {
  return (["stage", "outputs", "pipeline", "local"] as const).flatMap((name) =>
    options[name] === undefined ? [] : [`--${name}`, options[name]],
  );
}

/**
 * Finds the deployment: with `outputs` (a file of `cdk deploy --outputs-file`) in AWS, otherwise the system that
 * `npm start` runs on this machine. If there are several, `stage` or `pipeline` selects one.
 * @throws CommandError with the command that creates one
 */
export function findDeployment(options: DeploymentOptions, runningDirectory: string): Deployment {
  const { outputs, local: wanted } = options;
  if (outputs !== undefined) {
    if (wanted !== undefined) throw CommandError.usage("--outputs and --local exclude each other: give one.");
    const all = readOutputsFile(outputs);
    const chosen = choose(all, options, `in ${outputs}`);
    const place = placeOf(chosen.outputs, outputs);
    if (!hasOwnEndpoint(process.env)) checkAddresses(chosen.outputs, place, outputs);
    return deploymentOf(chosen, all, { region: place.region });
  }
  const running = findRunningSystems(runningDirectory);
  if (running.length === 0)
    throw CommandError.noDeployment(
      "No system runs on this machine, and no deployment is named. Name one in AWS with --outputs outputs.json, which\n" +
        "npx cdk deploy -c stage=NAME --outputs-file outputs.json writes, or start one here: npm start",
    );
  const system = choose(running, options, "on this machine");
  const { region, endpoint, credentials, local } = system;
  const beside = running.filter((each) => each.local.pid === local.pid);
  return { ...deploymentOf(system, beside, { region, endpoint, credentials }), local };
}

type Candidate = DeployedPipeline & { readonly local?: LocalPlace };

/** The only one that the options select. @throws CommandError listing the flags that select each */
function choose<One extends Candidate>(
  all: readonly One[],
  { outputs: _, ...options }: DeploymentOptions,
  where: string,
): One {
  const found = all.filter((one) => isMeant(one, options) && isAt(one.local, options.local));
  const [chosen, other] = found;
  if (chosen !== undefined && other === undefined) return chosen;
  const problem =
    chosen === undefined
      ? `No pipeline ${where} matches ${deploymentFlags(options).join(" ")}.`
      : `Several pipelines are ${where}.`;
  const lines = (chosen === undefined ? all : found).map((one) => `  ${flagsOf(one)}`);
  throw CommandError.noDeployment([`${problem} Choose one with:`, ...lines].join("\n"));
}

function isAt(place: LocalPlace | undefined, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  return /^\d+$/.test(wanted)
    ? place?.ports.includes(Number(wanted)) === true
    : place?.directory === resolve(wanted);
}

function flagsOf({ stage, stack, id, local }: Candidate): string {
  const pipeline = id === "" ? "" : commandLine` --pipeline ${nameOf({ stack, id })}`;
  if (local === undefined) return commandLine`--stage ${stage}` + pipeline;
  const { pid, ports, directory } = local;
  const started = directory === undefined ? "" : `, started in ${directory}`;
  return `--local ${ports[0] ?? ""}${pipeline}    stage ${stage}, process ${pid}${started}`;
}

/** @param all pipelines that may be in the same stack */
function deploymentOf(
  pipeline: DeployedPipeline,
  all: readonly DeployedPipeline[],
  client: Deployment["client"],
): Deployment {
  const { stage, stack, id, outputs } = pipeline;
  return {
    stage,
    stack,
    resourcePrefix: `${stack}-${id}`,
    resources: resourcesOf(
      pipeline,
      all.filter((each) => each.stack === stack),
    ),
    client,
    output: (name) => {
      if (outputs[name] !== undefined) return outputs[name];
      throw CommandError.noDeployment(
        `The stack ${stack} has no output ${id}${name}: its settings leave that part out, or an older version is deployed.`,
      );
    },
    optionalOutput: (name) => outputs[name],
  };
}

function readOutputsFile(file: string): readonly DeployedPipeline[] {
  try {
    const stacks = fieldsOf(parseJson(readFileSync(file, "utf8"), file), file);
    const pipelines = Object.keys(stacks).flatMap((name) =>
      pipelinesIn(name, parseOutputs(stacks[name], name)),
    );
    if (pipelines.length === 0) throw new Error("it has no stack with a pipeline");
    return pipelines;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const write = commandLine`npx cdk deploy --outputs-file ${file}`;
    throw CommandError.usage(`--outputs ${file} can't be used: ${reason}. Write it with: ${write}`);
  }
}

/** Taken from an ARN, so that commands use the stage's region whatever the environment says. */
function placeOf(outputs: Readonly<Record<string, string>>, file: string): AwsPlace {
  const place = placeOfArn(outputs.TokenSecretArn ?? "");
  if (place !== undefined) return place;
  throw CommandError.usage(
    `--outputs ${file} has no TokenSecretArn of a region of AWS. Deploy the stage again and write it again.`,
  );
}
