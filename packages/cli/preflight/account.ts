import { resolveCname } from "node:dns/promises";
import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { KMSClient } from "@aws-sdk/client-kms";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { ServiceQuotasClient } from "@aws-sdk/client-service-quotas";
import { SNSClient } from "@aws-sdk/client-sns";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { Settings } from "../../../lib/settings/settings.ts";
import { CommandError } from "../core/command-error.ts";

/** The account and region of the future deployment, with clients. */
export type Account = Disposable & {
  readonly id: string;
  readonly region: string;
  readonly cloudFormation: CloudFormationClient;
  readonly kms: KMSClient;
  readonly lambda: LambdaClient;
  readonly logs: CloudWatchLogsClient;
  readonly quotas: ServiceQuotasClient;
  readonly sns: SNSClient;
  /** The target of a DNS alias. */
  readonly resolveCname: (name: string) => Promise<readonly string[]>;
};

export type Plan = {
  readonly stage: string;
  readonly stackName: string;
  readonly settings: Settings;
  readonly account: Account;
};

export type PreflightCheck = {
  readonly name: string;
  readonly examine: (plan: Plan) => Promise<Found>;
};

/**
 * Opens the account of the operator's credentials, in the region that AWS's own tools use.
 * @throws CommandError if no region is set, or AWS's error if it refuses the credentials
 */
export async function openAccount(): Promise<Account> {
  const sts = new STSClient({});
  try {
    const region = await sts.config.region().catch(() => {
      throw CommandError.usage("No region is set. Set AWS_REGION to that of the stage.");
    });
    const { Account: id = "" } = await sts.send(new GetCallerIdentityCommand({}));
    return { id, region, ...openClients() };
  } finally {
    sts.destroy();
  }
}

/** Node 22, which also runs the commands, has no `DisposableStack`. */
function openClients(): Omit<Account, "id" | "region"> {
  const clients = {
    cloudFormation: new CloudFormationClient({}),
    kms: new KMSClient({}),
    lambda: new LambdaClient({}),
    logs: new CloudWatchLogsClient({}),
    quotas: new ServiceQuotasClient({}),
    sns: new SNSClient({}),
  };
  const end = () => {
    for (const client of Object.values(clients)) client.destroy();
  };
  return { ...clients, resolveCname, [Symbol.dispose]: end };
}

/** A problem that makes a deployment fail or not work. */
export type Finding = {
  readonly what: string;
  readonly why: string;
  readonly fix: string;
};

/** What a check found: an empty list if it passed. */
export type Found = Finding | readonly Finding[];

/** A numbered list with consequences and remedies. */
export function findingsText(findings: readonly Finding[]): readonly string[] {
  return findings.flatMap(({ what, why, fix }, index) => {
    const number = `${index + 1}. `;
    const indent = " ".repeat(number.length);
    return [`${number}${what}`, `${indent}${why}`, `${indent}Fix it: ${fix}`, ""];
  });
}
