import { DescribeKeyCommand, GetKeyPolicyCommand, NotFoundException } from "@aws-sdk/client-kms";
import { fieldsOf, isFields, parseJson } from "../../../domain/core/parse.ts";
import { escapePattern } from "../../../domain/event/subjects.ts";
import { keyPolicyStatements } from "../../../lib/settings/settings.ts";
import { commandLine } from "../core/command-line.ts";
import type { Finding, Plan, PreflightCheck } from "./account.ts";
import { deployedSettings, findStack } from "./stack-checks.ts";

export const keyCheck: PreflightCheck = {
  name: "the key",
  examine: async (plan) => {
    const { keyArn } = plan.settings.encryption;
    if (keyArn === undefined) return [];
    const broken = await checkKey(plan, keyArn);
    return broken.length > 0 ? broken : checkKeyPolicy(plan, keyArn);
  },
};

export const keyChangeCheck: PreflightCheck = {
  name: "a change of the key",
  examine: async ({ account, stackName, stage, settings: { encryption } }) => {
    const stack = await findStack(account.cloudFormation, stackName);
    if (stack === undefined) return [];
    const { encryption: deployed } = deployedSettings(stack);
    const used = isFields(deployed) ? deployed.keyArn : undefined;
    if (typeof used !== "string" || [encryption.keyArn, ...encryption.previousKeyArns].includes(used))
      return [];
    return [
      {
        what: `The deployed stack encrypts with ${used}, which the new settings no longer name.`,
        why: "Messages and objects that it encrypted become unreadable: messages expire in their queues, reads of large documents fail, and erasures stay incomplete.",
        fix: `add it to encryption.previousKeyArns in stages/${stage}.json`,
      },
    ];
  },
};

async function checkKey({ account, stage }: Plan, keyArn: string): Promise<readonly Finding[]> {
  const fix = `correct encryption.keyArn in stages/${stage}.json`;
  const why = "Nothing could be encrypted: the deployment fails and is rolled back.";
  try {
    const { KeyMetadata } = await account.kms.send(new DescribeKeyCommand({ KeyId: keyArn }));
    const { KeyState = "unknown", KeySpec = "unknown" } = KeyMetadata ?? {};
    if (KeyState !== "Enabled") {
      return [
        {
          what: `The key ${keyArn} is ${KeyState}.`,
          why,
          fix: commandLine`aws kms enable-key --key-id ${keyArn}`,
        },
      ];
    }
    if (KeySpec === "SYMMETRIC_DEFAULT") return [];
    return [{ what: `The key ${keyArn} is ${KeySpec}, and a symmetric one is needed.`, why, fix }];
  } catch (error) {
    if (error instanceof NotFoundException) return [{ what: `There is no key ${keyArn}.`, why, fix }];
    throw error;
  }
}

async function checkKeyPolicy(
  { account, stage, stackName, settings }: Plan,
  KeyId: string,
): Promise<readonly Finding[]> {
  const { Policy } = await account.kms.send(new GetKeyPolicyCommand({ KeyId }));
  const held = parsePolicy(Policy);
  const needed = parsePolicy(JSON.stringify({ Statement: keyPolicyStatements(stackName, settings) }));
  const lacking = needed.flatMap(({ principals, actions }) =>
    principals.filter((each) => !actions.every((action) => allows(held, each, action))),
  );
  return lacking.map((principal) => ({
    what: `The policy of the key ${KeyId} does not admit ${principal}.`,
    why: consequenceFor(principal),
    fix: commandLine`npx income-events key-policy --stage ${stage}    prints the statements; then: aws kms put-key-policy --key-id ${KeyId} --policy-name default --policy FILE`,
  }));
}

function consequenceFor(principal: string): string {
  if (principal.startsWith("logs."))
    return "No log group can be made: the deployment fails and is rolled back.";
  if (principal.startsWith("cloudwatch.")) return "Alarms send no mail.";
  return "That subscriber can't read its queue, or can't once a role that the policy names is created again.";
}

type Statement = {
  readonly principals: readonly string[];
  readonly actions: readonly string[];
};

/** The allowing statements of a resource policy, without conditions. */
export function parsePolicy(text: string | undefined): readonly Statement[] {
  if (text === undefined) return [];
  const { Statement } = fieldsOf(parseJson(text, "the policy"), "the policy");
  return listOf(Statement)
    .filter(isFields)
    .filter(({ Effect }) => Effect === "Allow")
    .map(({ Principal, Action }) => ({ principals: principalsOf(Principal), actions: textsOf(Action) }));
}

/** Whether a policy allows an action to a principal, under whatever condition. */
export function allows(statements: readonly Statement[], principal: string, action: string): boolean {
  return statements.some(
    ({ principals, actions }) =>
      principals.some((each) => each === "*" || each === principal) &&
      actions.some((each) => matches(each, action)),
  );
}

/** Action names are compared without case; `*` matches anything. */
function matches(pattern: string, action: string): boolean {
  const parts = pattern.split("*").map(escapePattern);
  return new RegExp(`^${parts.join(".*")}$`, "i").test(action.replace(/\*$/, ""));
}

function principalsOf(principal: unknown): readonly string[] {
  return isFields(principal) ? Object.values(principal).flatMap(textsOf) : textsOf(principal);
}

function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter((each) => typeof each === "string");
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}
