import {
  type CloudFormationClient,
  CloudFormationServiceException,
  DescribeStacksCommand,
  paginateListExports,
  type Stack,
} from "@aws-sdk/client-cloudformation";
import { type Fields, isFields } from "../../../domain/core/parse.ts";
import { registrationExportName, selectedBaseUrl, unpackSettings } from "../../../lib/settings/settings.ts";
import { commandLine } from "../core/command-line.ts";
import type { Finding, Plan, PreflightCheck } from "./account.ts";

/** The bootstrap version that CDK requires for assets (aws-cdk-lib, MIN_BOOTSTRAP_STACK_VERSION). */
const neededBootstrap = 6;

/** Undefined if it does not exist. */
export async function findStack(client: CloudFormationClient, name: string): Promise<Stack | undefined> {
  try {
    return (await client.send(new DescribeStacksCommand({ StackName: name }))).Stacks?.[0];
  } catch (error) {
    const isMissing =
      error instanceof CloudFormationServiceException &&
      error.name === "ValidationError" &&
      error.message.includes("does not exist");
    if (isMissing) return undefined;
    throw error;
  }
}

export function outputOf({ Outputs = [] }: Stack, name: string): string | undefined {
  return Outputs.find(({ OutputKey }) => OutputKey === name)?.OutputValue;
}

/** @throws if the stack does not report its settings */
export function deployedSettings(stack: Stack): Fields {
  const deployed = unpackSettings(outputOf(stack, "SettingsPacked") ?? "");
  if (isFields(deployed)) return deployed;
  throw new Error("the outputs of the deployed stack do not hold its settings");
}

export const bootstrapCheck: PreflightCheck = {
  name: "CDK's bootstrap",
  examine: async ({ account }) => {
    const toolkit = await findStack(account.cloudFormation, "CDKToolkit");
    const version = toolkit && Number(outputOf(toolkit, "BootstrapVersion") ?? 0);
    if (version !== undefined && version >= neededBootstrap) return [];
    const state = version === undefined ? "is not bootstrapped" : `has version ${version} of CDK's bootstrap`;
    return [
      {
        what: `The account ${account.id} ${state} in ${account.region}; ${neededBootstrap} is needed.`,
        why: "CDK refuses to deploy.",
        fix: commandLine`npx cdk bootstrap aws://${account.id}/${account.region}`,
      },
    ];
  },
};

export const stackCheck: PreflightCheck = {
  name: "the stage's stack",
  examine: async ({ account, stackName }) => {
    const stack = await findStack(account.cloudFormation, stackName);
    return stack === undefined ? [] : checkStack(stack, stackName);
  },
};

function checkStack(stack: Stack, stackName: string): readonly Finding[] {
  const { EnableTerminationProtection: isProtected = false } = stack;
  const status = String(stack.StackStatus);
  const what = `The stack ${stackName} has the status ${status}${isProtected ? " and is protected from termination" : ""}.`;
  const unprotect = commandLine`aws cloudformation update-termination-protection --stack-name ${stackName} --no-enable-termination-protection`;
  if (status === "ROLLBACK_COMPLETE" && isProtected)
    return [{ what, why: "Its creation failed, and CDK can't remove it to retry.", fix: unprotect }];
  if (status === "ROLLBACK_FAILED") {
    const look = commandLine`aws cloudformation describe-stack-events --stack-name ${stackName}    names what could not be removed: remove that`;
    return [
      {
        what,
        why: "Its creation and its removal failed. CDK retries the removal before it deploys.",
        fix: isProtected ? `${look}; then: ${unprotect}` : look,
      },
    ];
  }
  if (status === "UPDATE_ROLLBACK_FAILED") {
    const why = "A deployment and its rollback failed. No other deployment can start.";
    return [
      { what, why, fix: commandLine`npx cdk rollback -c stage=${stackName.replace("income-events-", "")}` },
    ];
  }
  if (status.endsWith("_IN_PROGRESS") && status !== "REVIEW_IN_PROGRESS") {
    const fix = commandLine`aws cloudformation describe-stacks --stack-name ${stackName}    until it is done`;
    return [{ what, why: "Somebody is deploying it, and CloudFormation refuses a second deployment.", fix }];
  }
  return [];
}

export const registrationCheck: PreflightCheck = {
  name: "registrations of other stages",
  examine: async (plan) => (plan.settings.register.enabled ? findOtherRegistration(plan) : []),
};

async function findOtherRegistration({
  account,
  settings,
  stackName,
  stage,
}: Plan): Promise<readonly Finding[]> {
  const wanted = registrationExportName(selectedBaseUrl(settings.provider));
  for await (const { Exports = [] } of paginateListExports({ client: account.cloudFormation }, {})) {
    const taken = Exports.find(({ Name }) => Name === wanted);
    const other = taken?.ExportingStackId?.split("/")[1];
    if (other === undefined || other === stackName) continue;
    return [
      {
        what: `The stack ${other} registers its webhooks with ${taken?.Value ?? "the same provider"} already.`,
        why: `CloudFormation refuses the export ${wanted} a second time: the deployment fails and is rolled back.`,
        fix: `set register.enabled to false in stages/${stage}.json, or deploy ${other} with it first`,
      },
    ];
  }
  return [];
}
