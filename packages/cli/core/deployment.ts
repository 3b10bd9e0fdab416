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
    const chosen = choose(all, options, `The file ${outputs}`);
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
  const found = running.filter(
    (system) => isMeant(system, options) && (wanted === undefined || isWanted(system.local, wanted)),
  );
  const [system, other] = found;
  if (system === undefined) throw noSuchSystem(options, running);
  if (other !== undefined) throw severalSystems(found);
  const { region, endpoint, credentials, local } = system;
  const beside = running.filter((each) => each.local.pid === local.pid);
  return { ...deploymentOf(system, beside, { region, endpoint, credentials }), local };
}

function isWanted({ ports, directory }: LocalPlace, wanted: string): boolean {
  return /^\d+$/.test(wanted) ? ports.includes(Number(wanted)) : directory === resolve(wanted);
}

function noSuchSystem(
  { stage, pipeline, local }: DeploymentOptions,
  running: readonly RunningSystem[],
): CommandError {
  const wanted = [
    ...(stage === undefined ? [] : [`of the stage ${stage}`]),
    ...(pipeline === undefined ? [] : [`with the pipeline ${pipeline}`]),
    ...(local === undefined ? [] : [/^\d+$/.test(local) ? `at the port ${local}` : `of the folder ${local}`]),
  ].join(" ");
  return CommandError.noDeployment(
    `No system ${wanted} runs on this machine. Running:\n${systemLines(running)}`,
  );
}

function severalSystems(running: readonly RunningSystem[]): CommandError {
  const flags = running.every(({ endpoint }) => endpoint === running[0]?.endpoint)
    ? "--pipeline and its name"
    : "--local and its port";
  return CommandError.noDeployment(
    `Several systems run on this machine. Choose one with ${flags}, as here:\n${systemLines(running)}`,
  );
}

function systemLines(running: readonly RunningSystem[]): string {
  return running
    .map(({ stage, id, local: { pid, ports, directory } }) => {
      const where = directory === undefined ? "" : `, started in ${directory}`;
      const part = id === "" ? "" : commandLine` --pipeline ${id}`;
      return `  --local ${ports[0] ?? ""}${part}    stage ${stage}, process ${pid}${where}`;
    })
    .join("\n");
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

function choose(
  candidates: readonly DeployedPipeline[],
  options: Pick<DeploymentOptions, "stage" | "pipeline">,
  where: string,
): DeployedPipeline {
  const { stage, pipeline } = options;
  const [only, other] = candidates.filter((one) => isMeant(one, options));
  if (only !== undefined && other === undefined) return only;
  const isByStage = new Set(candidates.map((one) => one.stage)).size === candidates.length;
  const there = candidates.map(isByStage ? (one) => one.stage : nameOf).join(", ");
  if (only !== undefined) {
    const what = isByStage ? "stages" : "pipelines";
    const flag = isByStage ? "--stage" : "--pipeline";
    throw CommandError.noDeployment(`${where} has several ${what}: ${there}. Choose one with ${flag}.`);
  }
  const wanted = [
    ...(stage === undefined ? [] : [`stage ${stage}`]),
    ...(pipeline === undefined ? [] : [`pipeline ${pipeline}`]),
  ].join(" with the ");
  const known = pipeline === undefined ? there : candidates.map(nameOf).join(", ");
  throw CommandError.noDeployment(`${where} has no ${wanted}. It has: ${known}.`);
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
