import { Stack } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import type * as kms from "aws-cdk-lib/aws-kms";
import type * as sns from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { instanceOf } from "../instance.ts";
import { keyPolicyStatements, parseSettings, type Settings, SettingsError } from "../settings/settings.ts";

/** What the app gives in the place of an ARN in the settings. */
export type OwnResources = {
  readonly encryptionKey?: kms.IKey | undefined;
  readonly alarmTopic?: sns.ITopic | undefined;
};

/** Stand for what is known at deploy time only, so that the same rules hold for it. */
const standIns = {
  keyArn: "arn:aws:kms:us-east-1:000000000000:key/00000000-0000-0000-0000-000000000000",
  topicArn: "arn:aws:sns:us-east-1:000000000000:given-by-the-app",
};

/**
 * A stage's settings as they are written, with stand-ins for the app's own key and topic.
 * @throws SettingsError naming `where`, each setting in error and its remedy
 */
export function parseWith(
  { encryptionKey, alarmTopic }: OwnResources,
  written: unknown,
  where: string,
): Settings {
  const groups = Object(written);
  if (encryptionKey !== undefined)
    refuse(groups, { group: "encryption", key: "keyArn", by: "encryptionKey", where });
  if (alarmTopic !== undefined) refuse(groups, { group: "alarms", key: "topicArn", by: "alarmTopic", where });
  return parseSettings(
    {
      ...groups,
      ...(encryptionKey && { encryption: { ...groups.encryption, keyArn: standIns.keyArn } }),
      ...(alarmTopic && { alarms: { ...groups.alarms, topicArn: standIns.topicArn } }),
    },
    where,
  );
}

function refuse(
  groups: Readonly<Record<string, unknown>>,
  given: { readonly group: string; readonly key: string; readonly by: string; readonly where: string },
): void {
  if (Object(groups[given.group])[given.key] === undefined) return;
  throw new SettingsError(
    `Settings in ${given.where}:\n  ${given.group}.${given.key}: is another one than ${given.by}; leave one of them out`,
  );
}

/** The same settings with the app's own key and topic in the place of the stand-ins. */
export function withOwn({ encryptionKey, alarmTopic }: OwnResources, settings: Settings): Settings {
  return {
    ...settings,
    ...(encryptionKey && { encryption: { ...settings.encryption, keyArn: encryptionKey.keyArn } }),
    ...(alarmTopic && { alarms: { ...settings.alarms, topicArn: alarmTopic.topicArn } }),
  };
}

/** Lets those use the app's own key who are no roles of the pipeline. A key that is imported keeps its policy. */
export function allowUseOfKey(scope: Construct, { encryptionKey }: OwnResources, settings: Settings): void {
  const { partition, region, account, stackName } = Stack.of(scope);
  const place = { partition, region, account, instance: instanceOf(scope) };
  for (const statement of keyPolicyStatements(stackName, settings, place)) {
    // Several pipelines can use one key, and a policy takes each id once.
    const withoutId = Object.entries(statement).filter(([name]) => name !== "Sid");
    encryptionKey?.addToResourcePolicy(iam.PolicyStatement.fromJson(Object.fromEntries(withoutId)));
  }
}

/** @throws SettingsError for a name that no stage can have */
export function checkStage(stage: unknown, remedy: string): string {
  if (typeof stage === "string" && /^[a-z][a-z0-9-]{0,19}$/.test(stage)) return stage;
  throw new SettingsError(
    `stage: is ${JSON.stringify(stage)}; ${remedy} in lower-case letters, digits and "-", at most 20`,
  );
}
