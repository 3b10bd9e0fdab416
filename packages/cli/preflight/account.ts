import { resolveCname } from "node:dns/promises";
import { GetCallerIdentityCommand } from "@aws-sdk/client-sts";
import type { Settings } from "../../../lib/settings/settings.ts";
import type { Clients } from "../core/clients.ts";
import { CommandError } from "../core/command-error.ts";

/** The account and region of the future deployment, with clients. */
export type Account = {
  readonly id: string;
  readonly region: string;
  readonly clients: Clients;
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
export async function openAccount(clients: Clients): Promise<Account> {
  const region = await clients.sts.config.region().catch(() => {
    throw CommandError.usage("No region is set. Set AWS_REGION to that of the stage.");
  });
  const { Account: id = "" } = await clients.sts.send(new GetCallerIdentityCommand({}));
  return { id, region, clients, resolveCname };
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
