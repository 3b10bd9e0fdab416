import {
  type CloudFormationClient,
  DescribeStacksCommand,
  paginateListExports,
  type Stack,
} from "@aws-sdk/client-cloudformation";
import { DescribeResourcePoliciesCommand, type ResourcePolicy } from "@aws-sdk/client-cloudwatch-logs";
import { GetAccountSettingsCommand } from "@aws-sdk/client-lambda";
import { paginateListServiceQuotas } from "@aws-sdk/client-service-quotas";
import { type Fields, isFields } from "../../../domain/core/parse.ts";
import { hasFunctionUrls, unsupportedPartition } from "../../../domain/core/regions.ts";
import { webhookKinds } from "../../../domain/event/events.ts";
import { registrationExportName, selectedBaseUrl, unpackSettings } from "../../../lib/settings/settings.ts";
import { isGone } from "../core/command-error.ts";
import { commandLine } from "../core/text.ts";
import type { Finding, Found, PreflightCheck } from "./account.ts";

/** The bootstrap version that CDK requires for assets (aws-cdk-lib, MIN_BOOTSTRAP_STACK_VERSION). */
const neededBootstrap = 6;

/** Undefined if it does not exist. */
export async function findStack(client: CloudFormationClient, name: string): Promise<Stack | undefined> {
  try {
    return (await client.send(new DescribeStacksCommand({ StackName: name }))).Stacks?.[0];
  } catch (error) {
    if (isGone(error)) return undefined;
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
    const toolkit = await findStack(account.clients.cloudFormation, "CDKToolkit");
    const version = toolkit && Number(outputOf(toolkit, "BootstrapVersion") ?? 0);
    if (version !== undefined && version >= neededBootstrap) return [];
    const state = version === undefined ? "is not bootstrapped" : `has version ${version} of CDK's bootstrap`;
    return {
      what: `The account ${account.id} ${state} in ${account.region}; ${neededBootstrap} is needed.`,
      why: "CDK refuses to deploy.",
      fix: commandLine`npx cdk bootstrap aws://${account.id}/${account.region}`,
    };
  },
};

export const stackCheck: PreflightCheck = {
  name: "the stage's stack",
  examine: async ({ account, stackName }) => {
    const stack = await findStack(account.clients.cloudFormation, stackName);
    return stack === undefined ? [] : checkStack(stack, stackName);
  },
};

function checkStack(stack: Stack, stackName: string): Found {
  const { EnableTerminationProtection: isProtected = false } = stack;
  const status = String(stack.StackStatus);
  const what = `The stack ${stackName} has the status ${status}${isProtected ? " and is protected from termination" : ""}.`;
  const unprotect = commandLine`aws cloudformation update-termination-protection --stack-name ${stackName} --no-enable-termination-protection`;
  if (status === "ROLLBACK_COMPLETE" && isProtected)
    return [{ what, why: "Its creation failed, and CDK can't remove it to retry.", fix: unprotect }];
  if (status === "ROLLBACK_FAILED") {
    const look = commandLine`aws cloudformation describe-stack-events --stack-name ${stackName}    names what could not be removed: remove that`;
    return {
      what,
      why: "Its creation and its removal failed. CDK retries the removal before it deploys.",
      fix: isProtected ? `${look}; then: ${unprotect}` : look,
    };
  }
  if (status === "UPDATE_ROLLBACK_FAILED") {
    const why = "A deployment and its rollback failed. No other deployment can start.";
    return {
      what,
      why,
      fix: commandLine`npx cdk rollback -c stage=${stackName.replace("income-events-", "")}`,
    };
  }
  if (status.endsWith("_IN_PROGRESS") && status !== "REVIEW_IN_PROGRESS") {
    const fix = commandLine`aws cloudformation describe-stacks --stack-name ${stackName}    until it is done`;
    return [{ what, why: "Somebody is deploying it, and CloudFormation refuses a second deployment.", fix }];
  }
  return [];
}

export const registrationCheck: PreflightCheck = {
  name: "registrations of other stages",
  examine: async ({ account, settings, stackName, stage }) => {
    if (!settings.register.enabled) return [];
    const wanted = registrationExportName(selectedBaseUrl(settings.provider));
    for await (const { Exports = [] } of paginateListExports(
      { client: account.clients.cloudFormation },
      {},
    )) {
      const taken = Exports.find(({ Name }) => Name === wanted);
      const other = taken?.ExportingStackId?.split("/")[1];
      if (other === undefined || other === stackName) continue;
      return {
        what: `The stack ${other} registers its webhooks with ${taken?.Value ?? "the same provider"} already.`,
        why: `CloudFormation refuses the export ${wanted} a second time: the deployment fails and is rolled back.`,
        fix: `set register.enabled to false in stages/${stage}.json, or deploy ${other} with it first`,
      };
    }
    return [];
  },
};

/** Checks that settings with ARNs name resources in the stage's region. */
export const placeCheck: PreflightCheck = {
  name: "the region of what settings name",
  examine: async ({ account, settings, stage }) => {
    const named = {
      "encryption.keyArn": settings.encryption.keyArn,
      "alarms.topicArn": settings.alarms.topicArn,
      "webhooks.customDomain.certificateArn": settings.webhooks.customDomain?.certificateArn,
    };
    return Object.entries(named).flatMap(([setting, arn]) => {
      const region = arn?.split(":")[3];
      if (region === undefined || region === account.region) return [];
      return {
        what: `${setting} is in ${region}, and the stage would be in ${account.region}.`,
        why: "CloudFormation refuses it: the deployment fails and is rolled back.",
        fix: `correct ${setting} in stages/${stage}.json, or set AWS_REGION to ${region}`,
      };
    });
  },
};

export const regionCheck: PreflightCheck = {
  name: "whether the region has what the pipeline needs of Lambda",
  examine: async ({ account: { region }, settings: { reading }, stage }) => {
    const partition = unsupportedPartition(region);
    if (partition !== undefined)
      return {
        what: `${region} is in ${partition}.`,
        why: "CloudFormation refuses the stack: the deployment fails and is rolled back.",
        fix: "deploy the stack to a region of another partition",
      };
    if (reading === "invoke" || reading === "none" || hasFunctionUrls(region)) return [];
    return {
      what: `Lambda has no function URLs in ${region}, and subscribers would read documents at one.`,
      why: "CloudFormation refuses it: the deployment fails and is rolled back.",
      fix: `set reading to invoke in stages/${stage}.json`,
    };
  },
};

/** A web ACL can't be attached to an HTTP API, only to what is in front of it. */
export const firewallCheck: PreflightCheck = {
  name: "where the webhooks' name leads",
  examine: async ({ account, settings: { webhooks } }) => {
    const { customDomain } = webhooks;
    if (customDomain?.behindCloudFront !== true) return [];
    const { name } = customDomain;
    const aliases = await account.resolveCname(name).catch((error: unknown) => {
      throw new Error(`DNS names no alias of ${name}, by which CloudFront is known`, { cause: error });
    });
    if (aliases.some((alias) => alias.replace(/\.$/, "").endsWith(".cloudfront.net"))) return [];
    return {
      what: `The DNS record of ${name} leads to ${aliases.join(", ")} instead of CloudFront.`,
      why: "Webhooks and all other requests to that name bypass the firewall.",
      fix: "lead the record to the distribution, or leave out webhooks.customDomain.behindCloudFront",
    };
  },
};

/** Quotas by their names in Service Quotas. */
const throttles = [
  { quota: "Throttle rate", setting: "requestsPerSecond" },
  { quota: "Throttle burst rate", setting: "burst" },
] as const;

export const throttleCheck: PreflightCheck = {
  name: "API Gateway's throttle",
  examine: async ({ account, settings }) => {
    const values = new Map<string, number>();
    const pages = paginateListServiceQuotas(
      { client: account.clients.serviceQuotas },
      { ServiceCode: "apigateway" },
    );
    for await (const { Quotas = [] } of pages) {
      for (const { QuotaName = "", Value } of Quotas) if (Value !== undefined) values.set(QuotaName, Value);
    }
    return throttles.flatMap(({ quota, setting }): Found => {
      const value = values.get(quota);
      const own = settings.webhooks.throttle[setting];
      // Service Quotas omits quotas whose value for the account is unknown.
      if (value === undefined) throw new Error(`Service Quotas names no "${quota}"`);
      if (own <= value) return [];
      return {
        what: `webhooks.throttle.${setting} is ${own}, and API Gateway lets ${value} through in all of the account's APIs.`,
        why: "Webhooks above it are answered 429, although the stage would accept them.",
        fix: `lower webhooks.throttle.${setting}, or ask for more: aws service-quotas list-service-quotas --service-code apigateway`,
      };
    });
  },
};

/** Executions that can't be reserved. Source: Lambda developer guide, "Configuring reserved concurrency". */
const alwaysUnreserved = 100;
/** Minimum executions for one stage; with fewer its functions wait for each other. */
const enough = 100;

const raise =
  "aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000";

export const concurrencyCheck: PreflightCheck = {
  name: "concurrent executions",
  examine: async ({ stage, stackName, settings, account }) => {
    const { AccountLimit } = await account.clients.lambda.send(new GetAccountSettingsCommand({}));
    const { ConcurrentExecutions: all = 0, UnreservedConcurrentExecutions: unreserved = 0 } =
      AccountLimit ?? {};
    const { accountConcurrency, production } = settings;
    const findings: Finding[] = [];
    if (accountConcurrency > all) {
      findings.push({
        what: `The account allows ${all} concurrent executions in ${account.region}, and the setting accountConcurrency says ${accountConcurrency}.`,
        why: "The event sources could use all concurrency, and the receivers would be throttled.",
        fix: `set accountConcurrency to ${all} in stages/${stage}.json, or ask for more: ${raise}`,
      });
    }
    const reserved = webhookKinds.length * (settings.functions.receive.reservedConcurrency ?? 0);
    const own = reserved > 0 ? await reservedByStack(account.clients.cloudFormation, stackName) : 0;
    if (reserved > 0 && unreserved + own - reserved < alwaysUnreserved) {
      findings.push({
        what: `The stage reserves ${reserved} concurrent executions, and ${unreserved + own} are left for it and for functions without a reservation.`,
        why: `Lambda keeps ${alwaysUnreserved} unreserved and refuses the reservation: the deployment fails and is rolled back.`,
        fix: `leave functions.receive.reservedConcurrency out, or ask for more: ${raise}`,
      });
    }
    if (production && all < enough) {
      findings.push({
        what: `The account has ${all} concurrent executions in ${account.region}, for all of its functions.`,
        why: "In a burst, some webhooks are answered 503 or 429 and retried by the provider, and any function may have to wait.",
        fix: raise,
      });
    }
    return findings;
  },
};

/**
 * Concurrency that the deployed stage reserves. The account counts it as taken, and the next deployment
 * replaces it.
 */
async function reservedByStack(client: CloudFormationClient, stackName: string): Promise<number> {
  const stack = await findStack(client, stackName);
  if (stack === undefined) return 0;
  const { functions } = deployedSettings(stack);
  const receive = isFields(functions) ? functions.receive : undefined;
  const each = isFields(receive) ? receive.reservedConcurrency : undefined;
  return typeof each === "number" ? webhookKinds.length * each : 0;
}

/**
 * Characters in one policy, and policies in an account and region. Source: CloudWatch Logs user guide,
 * "CloudWatch Logs quotas".
 */
const longest = 5_120;
const mostPolicies = 10;
/** Characters that each log group adds: its ARN in a list. */
const perLogGroup = 300;

export const logPolicyCheck: PreflightCheck = {
  name: "the log delivery policy",
  examine: async ({ account }) => {
    // One page contains the maximum of an account.
    const { resourcePolicies = [] } = await account.clients.cloudWatchLogs.send(
      new DescribeResourcePoliciesCommand({}),
    );
    return checkLogPolicies(resourcePolicies);
  },
};

/** Log groups below /aws/vendedlogs/ share the policy that AWS writes for service logs. */
function checkLogPolicies(policies: readonly ResourcePolicy[]): Found {
  const delivery = policies.find(({ policyName }) => policyName?.startsWith("AWSLogDeliveryWrite"));
  const why =
    "API Gateway could not write the access log of the webhooks: the deployment fails and is rolled back.";
  if (delivery === undefined) {
    if (policies.length < mostPolicies) return [];
    return {
      what: `CloudWatch Logs has ${policies.length} resource policies in this region, the most that an account may have.`,
      why,
      fix: "aws logs delete-resource-policy --policy-name NAME    of one that nothing uses",
    };
  }
  const { policyName = "", policyDocument = "" } = delivery;
  const free = longest - policyDocument.length;
  if (free >= perLogGroup || policyDocument.includes("/aws/vendedlogs/*")) return [];
  return {
    what: `The resource policy ${policyName} of CloudWatch Logs has ${free} of ${longest} characters left.`,
    why,
    fix: commandLine`aws logs put-resource-policy --policy-name ${policyName} --policy-document FILE    with /aws/vendedlogs/* in the place of single log groups`,
  };
}
