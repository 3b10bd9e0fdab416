import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fieldsOf, parseJson } from "../../domain/core/parse.ts";
import { CommandError } from "./command-error.ts";
import { type AwsPlace, checkAddresses, hasOwnEndpoint, placeOfArn } from "./own-addresses.ts";
import { findRunningSystems, type LocalPlace, parseOutputs, type RunningSystem } from "./running-systems.ts";

/** A stage that commands work on, in an AWS account or on this machine. */
export type Deployment = {
  readonly stage: string;
  readonly stack: string;
  /** For the clients of AWS; on this machine with endpoint and credentials, else these are AWS's own way. */
  readonly client: { readonly region: string } & Partial<Pick<RunningSystem, "endpoint" | "credentials">>;
  /** @throws CommandError where the stack has no such output */
  readonly output: (name: string) => string;
  /** Undefined where the stage's settings leave that part out. */
  readonly optionalOutput: (name: string) => string | undefined;
  /** Of a system on this machine; absent: it is in AWS. */
  readonly local?: LocalPlace;
};

export type DeploymentOptions = {
  readonly stage?: string;
  readonly outputs?: string;
  /** A port of the system on this machine, or the folder that it was started in. */
  readonly local?: string;
};

const stackPrefix = "income-events-";

/**
 * Finds the deployment: with `outputs` (a file of `cdk deploy --outputs-file`) in AWS, else the system that
 * `npm start` keeps up on this machine. `stage` is needed where there are several.
 * @throws CommandError saying how to have one
 */
export function findDeployment(options: DeploymentOptions, runningDirectory: string): Deployment {
  const { stage, outputs, local: wanted } = options;
  if (outputs !== undefined) {
    if (wanted !== undefined)
      throw new CommandError("usage", "--outputs and --local exclude each other: give one.");
    const stacks = readOutputsFile(outputs);
    const [name, values] = choose([...stacks], ([stack]) => stack, stage, `the file ${outputs}`);
    const place = placeOf(values, outputs);
    if (!hasOwnEndpoint(process.env)) checkAddresses(values, place, outputs);
    return deploymentOf(name, { region: place.region }, values);
  }
  const running = findRunningSystems(runningDirectory);
  if (running.length === 0) {
    throw new CommandError(
      "noDeployment",
      "No system runs on this machine, and no deployment is named. Start one with npm start, or name one in AWS:\n" +
        "  npx cdk deploy -c stage=NAME --outputs-file outputs.json   (once), then add --outputs outputs.json",
    );
  }
  const found = running.filter(
    (system) =>
      (stage === undefined || system.stack === `${stackPrefix}${stage}`) &&
      (wanted === undefined || isWanted(system.local, wanted)),
  );
  const [system, other] = found;
  if (system === undefined) throw noSuchSystem(options, running);
  if (other !== undefined) throw severalSystems(found);
  const { stack, region, endpoint, credentials, outputs: values, local } = system;
  return { ...deploymentOf(stack, { region, endpoint, credentials }, values), local };
}

function isWanted({ ports, directory }: LocalPlace, wanted: string): boolean {
  return /^\d+$/.test(wanted) ? ports.includes(Number(wanted)) : directory === resolve(wanted);
}

function noSuchSystem({ stage, local }: DeploymentOptions, running: readonly RunningSystem[]): CommandError {
  const wanted = [
    ...(stage === undefined ? [] : [`of the stage ${stage}`]),
    ...(local === undefined ? [] : [/^\d+$/.test(local) ? `at the port ${local}` : `of the folder ${local}`]),
  ].join(" ");
  return new CommandError(
    "noDeployment",
    `No system ${wanted} runs on this machine. There is:\n${systemLines(running)}`,
  );
}

function severalSystems(running: readonly RunningSystem[]): CommandError {
  return new CommandError(
    "noDeployment",
    `Several systems run on this machine. Choose one with --local and its port, as here:\n${systemLines(running)}`,
  );
}

function systemLines(running: readonly RunningSystem[]): string {
  return running
    .map(({ stack, local: { pid, ports, directory } }) => {
      const where = directory === undefined ? "" : `, started in ${directory}`;
      return `  --local ${ports[0] ?? ""}    stage ${stageOf(stack)}, process ${pid}${where}`;
    })
    .join("\n");
}

function deploymentOf(
  stack: string,
  client: Deployment["client"],
  values: Readonly<Record<string, string>>,
): Deployment {
  return {
    stage: stageOf(stack),
    stack,
    client,
    output: outputOf(stack, values),
    optionalOutput: (name) => values[name],
  };
}

function choose<T>(
  candidates: readonly T[],
  stackOf: (candidate: T) => string,
  stage: string | undefined,
  where: string,
): T {
  const wanted = candidates.filter((one) => stage === undefined || stackOf(one) === `${stackPrefix}${stage}`);
  const [only] = wanted;
  if (only !== undefined && wanted.length === 1) return only;
  const stages = candidates.map((one) => stageOf(stackOf(one))).join(", ");
  throw new CommandError(
    "noDeployment",
    stage === undefined
      ? `There are several stages in ${where}: ${stages}. Choose one with --stage.`
      : `There is no stage ${stage} in ${where}; there is: ${stages}.`,
  );
}

/** The stages in a file of outputs. @throws CommandError where it can't be used */
export function outputsStages(file: string): readonly string[] {
  return [...readOutputsFile(file).keys()].map(stageOf);
}

function readOutputsFile(file: string): ReadonlyMap<string, Readonly<Record<string, string>>> {
  try {
    const stacks = fieldsOf(parseJson(readFileSync(file, "utf8"), file), file);
    const names = Object.keys(stacks).filter((name) => name.startsWith(stackPrefix));
    if (names.length === 0) throw new Error(`it has no stack named ${stackPrefix}…`);
    return new Map(names.map((name) => [name, parseOutputs(stacks[name], name)]));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      "usage",
      `--outputs ${file} can't be used: ${reason}. Write it with: npx cdk deploy --outputs-file ${file}`,
    );
  }
}

/** From an ARN: whatever region a person's tools are set to, commands go where the stage is. */
function placeOf(outputs: Readonly<Record<string, string>>, file: string): AwsPlace {
  const place = placeOfArn(outputs.TokenSecretArn ?? "");
  if (place !== undefined) return place;
  throw new CommandError(
    "usage",
    `--outputs ${file} has no TokenSecretArn of a region of AWS. Deploy the stage again and write it again.`,
  );
}

function outputOf(stack: string, outputs: Readonly<Record<string, string>>): Deployment["output"] {
  return (name) => {
    const value = outputs[name];
    if (value !== undefined) return value;
    throw new CommandError(
      "noDeployment",
      `The stack ${stack} has no output ${name}: its settings leave that part out, or an older version is deployed.`,
    );
  };
}

function stageOf(stack: string): string {
  return stack.replace(stackPrefix, "");
}
