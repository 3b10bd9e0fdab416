import { reasonOf } from "../core/command-error.ts";
import type { Finding, Plan, PreflightCheck } from "./account.ts";
import { alarmRecipientsCheck, keyChangeCheck, keyCheck } from "./policy-checks.ts";
import {
  bootstrapCheck,
  concurrencyCheck,
  firewallCheck,
  logPolicyCheck,
  placeCheck,
  regionCheck,
  registrationCheck,
  stackCheck,
  throttleCheck,
} from "./stack-checks.ts";

export type Preflight = Awaited<ReturnType<typeof examinePreflight>>;

/** In the order in which a deployment reaches them. */
const checks: readonly PreflightCheck[] = [
  bootstrapCheck,
  regionCheck,
  placeCheck,
  firewallCheck,
  stackCheck,
  registrationCheck,
  keyCheck,
  keyChangeCheck,
  concurrencyCheck,
  throttleCheck,
  logPolicyCheck,
  alarmRecipientsCheck,
];

/** Checks that AWS has no call for, or that preflight does not make. */
const neverSeen = [
  {
    name: "under which conditions the policies of keys and topics admit, and what else denies",
    reason: "account and settings",
  },
  {
    name: "whether the region has HTTP APIs, functions of nodejs24.x on arm64, and streamed answers",
    reason: "AWS lists them at https://builder.aws.com/build/capabilities only",
  },
  {
    name: "whether the account has room for the stage's roles, alarms and rules; CDK's roles may make them; the principals and certificates of the settings exist",
    reason: "CloudFormation finds out; a creation that fails is rolled back",
  },
];

/** Looks for what would make the stage's deployment fail, or lose data after it. */
export async function examinePreflight(plan: Plan) {
  const outcomes = await Promise.all(checks.map((check) => outcomeOf(check, plan)));
  return {
    findings: outcomes.flatMap(({ findings = [] }) => findings),
    checked: outcomes.flatMap(({ findings, name }) => (findings === undefined ? [] : [name])),
    unseen: [...outcomes.flatMap(({ unseen }) => unseen ?? []), ...neverSeen],
  };
}

async function outcomeOf({ name, examine }: PreflightCheck, plan: Plan) {
  try {
    return { name, findings: [await examine(plan)].flat() };
  } catch (error) {
    // The region answered the first call, so a service without an address does not exist there.
    if (!(error instanceof Error && "code" in error && error.code === "ENOTFOUND"))
      return { name, unseen: [{ name, reason: reasonOf(error) }] };
    const absent: Finding = {
      what: `${plan.account.region} lacks a service that this check needs: ${name}.`,
      why: "The stage needs that service in its own region.",
      fix: "set AWS_REGION to a region that has it",
    };
    return { name, findings: [absent] };
  }
}
