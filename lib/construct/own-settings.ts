import { Stack, Token } from "aws-cdk-lib";
import type * as acm from "aws-cdk-lib/aws-certificatemanager";
import * as iam from "aws-cdk-lib/aws-iam";
import type * as kms from "aws-cdk-lib/aws-kms";
import type * as sns from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { instanceOf } from "../instance.ts";
import { keyPolicyStatements, parseSettings, type Settings, SettingsError } from "../settings/settings.ts";

/** Resources that the app passes instead of ARNs in the settings. */
export type OwnResources = {
  readonly encryptionKey?: kms.IKey | undefined;
  readonly alarmTopic?: sns.ITopic | undefined;
  readonly certificate?: acm.ICertificate | undefined;
};

/** Settings with an ARN that may be known only at deploy time, and the stand-in that is validated in its place. */
const places = [
  {
    path: ["encryption", "keyArn"],
    by: "encryptionKey",
    arnOf: ({ encryptionKey }: OwnResources) => encryptionKey?.keyArn,
    standIn: "arn:aws:kms:us-east-1:000000000000:key/00000000-0000-0000-0000-000000000000",
  },
  {
    path: ["alarms", "topicArn"],
    by: "alarmTopic",
    arnOf: ({ alarmTopic }: OwnResources) => alarmTopic?.topicArn,
    standIn: "arn:aws:sns:us-east-1:000000000000:given-by-the-app",
  },
  {
    path: ["webhooks", "customDomain", "certificateArn"],
    by: "certificate",
    arnOf: ({ certificate }: OwnResources) => certificate?.certificateArn,
    standIn: "arn:aws:acm:us-east-1:000000000000:certificate/00000000-0000-0000-0000-000000000000",
  },
] as const;

/**
 * Parses a stage's settings, with stand-ins for the app's own resources and for tokens.
 * @throws SettingsError with `where`, each invalid setting and its remedy
 */
export function parseWith(own: OwnResources, written: unknown, where: string): Settings {
  const withStandIns = places.reduce((settings, { path, by, arnOf, standIn }) => {
    const given = valueAt(written, path);
    if (arnOf(own) === undefined) return isToken(given) ? withValue(settings, path, standIn) : settings;
    if (given === undefined) return withValue(settings, path, standIn);
    throw new SettingsError(
      `Settings in ${where}:\n  ${path.join(".")}: is another one than ${by}; leave one of them out`,
    );
  }, written);
  return parseSettings(withStandIns, where);
}

/** Replaces the stand-ins with the app's own resources and the original tokens. */
export function withOwn(own: OwnResources, written: unknown, settings: Settings): Settings {
  const arnAt = (index: 0 | 1 | 2) => {
    const { path, arnOf } = places[index];
    const given = valueAt(written, path);
    return arnOf(own) ?? (isToken(given) ? given : undefined);
  };
  const [keyArn, topicArn, certificateArn] = [arnAt(0), arnAt(1), arnAt(2)];
  const { encryption, alarms, webhooks } = settings;
  const { customDomain } = webhooks;
  return {
    ...settings,
    ...(keyArn !== undefined && { encryption: { ...encryption, keyArn } }),
    ...(topicArn !== undefined && { alarms: { ...alarms, topicArn } }),
    ...(certificateArn !== undefined &&
      customDomain && { webhooks: { ...webhooks, customDomain: { ...customDomain, certificateArn } } }),
  };
}

/** The region of the key that the app passes or the settings name; undefined: there is none, or it is a token. */
export function regionOfKey({ encryptionKey }: OwnResources, written: unknown): string | undefined {
  const keyArn = encryptionKey?.keyArn ?? valueAt(written, ["encryption", "keyArn"]);
  return typeof keyArn === "string" && !Token.isUnresolved(keyArn) ? keyArn.split(":")[3] : undefined;
}

function isToken(value: unknown): value is string {
  return typeof value === "string" && Token.isUnresolved(value);
}

function valueAt(settings: unknown, path: readonly string[]): unknown {
  return path.reduce((value: unknown, key) => Object(value)[key], settings);
}

function withValue(settings: unknown, [key, ...rest]: readonly string[], value: string): unknown {
  if (key === undefined) return value;
  return { ...Object(settings), [key]: withValue(Object(settings)[key], rest, value) };
}

/** Lets principals other than the pipeline's roles use the app's own key. An imported key keeps its policy. */
export function allowUseOfKey(scope: Construct, { encryptionKey }: OwnResources, settings: Settings): void {
  const { partition, region, account, stackName } = Stack.of(scope);
  const place = { partition, region, account, instance: instanceOf(scope) };
  for (const statement of keyPolicyStatements(stackName, settings, place)) {
    // Several pipelines can share a key, and a policy accepts each statement id only once.
    const withoutId = Object.entries(statement).filter(([name]) => name !== "Sid");
    encryptionKey?.addToResourcePolicy(iam.PolicyStatement.fromJson(Object.fromEntries(withoutId)));
  }
}

/** @throws SettingsError for an invalid stage name */
export function checkStage(stage: unknown, remedy: string): string {
  if (typeof stage === "string" && /^[a-z][a-z0-9-]{0,19}$/.test(stage)) return stage;
  throw new SettingsError(
    `stage: is ${JSON.stringify(stage)}; ${remedy} in lower-case letters, digits and "-", at most 20`,
  );
}
