import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import type { z } from "zod";
import { pascalCase } from "../names.ts";
import { admissionsOf } from "./principals.ts";
import { scaleDurations } from "./scale-durations.ts";
import { SettingsError } from "./settings-error.ts";
import { mappingPartSchema, type Settings, settingsSchema } from "./settings-schema.ts";

/** Location of a KMS key, which must be in the stage's account and region. */
type KeyPlace = {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  /** Prefix of the pipeline's logical ids, if the stack contains more. */
  readonly instance?: string;
};

/**
 * Statements that the key's policy needs for principals other than this account's roles, because the stack can't change
 * the policy of a given key. Sources: CloudWatch Logs user guide, "Encrypt log data"; SQS developer guide, "Key
 * management" (SQS names the queue in the encryption context, as CloudTrail shows it: `aws:sqs:arn`); SNS developer
 * guide, "Enable compatibility between event sources from AWS services and encrypted topics", which has both conditions
 * of a service that publishes.
 * @param place required if the key's ARN is known only at deploy time
 */
export function keyPolicyStatements(
  stackName: string,
  { encryption, subscribers, alarms }: Settings,
  place?: KeyPlace,
): readonly object[] {
  if (encryption.keyArn === undefined) return [];
  const { partition, region, account, instance = "" } = place ?? placeOf(encryption.keyArn);
  const queues = `arn:${partition}:sqs:${region}:${account}:`;
  const statements = [
    {
      Sid: "LogGroupsOfIncomeEvents",
      Principal: { Service: `logs.${region}.amazonaws.com` },
      Action: ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"],
      Condition: {
        ArnLike: {
          "kms:EncryptionContext:aws:logs:arn": `arn:${partition}:logs:${region}:${account}:log-group:*`,
        },
      },
    },
    ...(alarms.emails === undefined
      ? []
      : [
          {
            Sid: "AlarmsOfIncomeEvents",
            Principal: { Service: "cloudwatch.amazonaws.com" },
            Action: ["kms:Decrypt", "kms:GenerateDataKey*"],
            Condition: {
              StringEquals: { "aws:SourceAccount": account },
              ArnLike: {
                "aws:SourceArn": `arn:${partition}:cloudwatch:${region}:${account}:alarm:${stackName}-*`,
              },
            },
          },
        ]),
    ...subscribers.flatMap(({ name, principals }) =>
      admissionsOf(principals).map(({ accounts, arns }) => ({
        Sid: `${arns ? "RolesRead" : "Reads"}${pascalCase(name)}OfIncomeEvents`,
        Principal: { AWS: accounts.map((each) => `arn:${partition}:iam::${each}:root`) },
        Action: ["kms:Decrypt"],
        Condition: {
          StringEquals: { "kms:ViaService": `sqs.${region}.amazonaws.com` },
          ArnLike: {
            "kms:EncryptionContext:aws:sqs:arn":
              queues + queueNames(stackName, `${instance}Subscriber${pascalCase(name)}`),
          },
          ...(arns && { ArnEquals: { "aws:PrincipalArn": arns } }),
        },
      })),
    ),
  ];
  return statements.map(({ Sid, ...rest }) => ({ Sid, Effect: "Allow", ...rest, Resource: "*" }));
}

function placeOf(keyArn: string): KeyPlace {
  const [, partition = "", , region = "", account = ""] = keyArn.split(":");
  return { partition, region, account };
}

const longestQueueName = 80;
/** CDK's digest of the path is followed by CloudFormation's random part. */
const digestPattern = "?".repeat(8);
const randomPart = "-".length + 12;

/** Pattern for the name of a subscriber's queue. CloudFormation shortens long names. */
function queueNames(stackName: string, subscriber: string): string {
  const start = `${stackName}-${subscriber}Queue${digestPattern}`;
  return start.length + randomPart <= longestQueueName ? `${start}-*` : `${stackName.slice(0, 20)}*`;
}

export { registrationExportName } from "./registration-export.ts";
export { SettingsError } from "./settings-error.ts";
export { type Settings, selectedBaseUrl } from "./settings-schema.ts";

/**
 * Reads a stage's settings and adds defaults.
 * @param file the settings file; default: `<stage>.json` in `directory`
 * @throws SettingsError with the file, each invalid setting and its remedy
 */
export function loadSettings(stage: string, directory: string, file = join(directory, `${stage}.json`)) {
  return parseSettings(readSettings(stage, file), file);
}

/**
 * Parses a stage's settings, and divides their waiting times by `divideDurationsBy`.
 * @throws SettingsError with `file`, each invalid setting and its remedy
 */
export function parseSettings(value: unknown, file: string): Settings {
  const settings = orExplain(settingsSchema.safeParse(value), file);
  return scaleDurations(settings, settingsSchema, settings.divideDurationsBy);
}

/** Digest of all settings including defaults. */
export function settingsDigest(settings: Settings): string {
  return createHash("sha256").update(JSON.stringify(settings)).digest("hex").slice(0, 16);
}

/**
 * Parses only the mapping of a stage's settings, by the same rules, and adds defaults.
 * @throws SettingsError like `parseSettings`
 */
export function parseMappingPart(value: unknown, file: string): Settings["mapping"] {
  return orExplain(mappingPartSchema.safeParse(value), file).mapping;
}

function orExplain<T>(result: z.ZodSafeParseResult<T>, file: string): T {
  if (result.success) return result.data;
  const lines = result.error.issues.flatMap(linesOf).map((line) => `  ${line}`);
  throw new SettingsError([`Settings in ${file}:`, ...lines].join("\n"));
}

function linesOf(issue: z.core.$ZodIssue): string[] {
  const keys =
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
  return keys.map((path) => onOneLine(`${path.map(nameOf).join(".") || "the settings"}: ${issue.message}`));
}

/** Quotes an unusual name, so that a space at its end can be seen. */
function nameOf(key: PropertyKey): string {
  const name = String(key);
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

/** Escapes control characters in names and expressions, so that each error stays on one line. */
function onOneLine(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Reads a stage's settings without defaults. Ignores a byte order mark, and accepts CRLF.
 * @throws SettingsError if the file can't be read or is not JSON
 */
export function readSettings(stage: string, file: string): unknown {
  const text = readText(file, stage)
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SettingsError(`Settings in ${file}: not JSON (${messageOf(error)}); correct it there`);
  }
}

function readText(file: string, stage: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new SettingsError(
      `Settings of stage ${stage}: can't read ${file} (${messageOf(error)}); ` +
        "create it, or name a stage with -c stage=NAME or a file with -c settings=FILE",
    );
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** People read outputs too, so a longer value is omitted. */
const maxCharacters = 4_000;
/** Many times the size of real settings. Protects from outputs of unknown origin. */
const maxBytes = 1_000_000;

/** Compresses settings, including defaults, into one word; undefined if they are too long for an output. */
export function packSettings(settings: Settings): string | undefined {
  // base64url has no slash, which would look like an address to checks of the outputs.
  const packed = brotliCompressSync(JSON.stringify(settings)).toString("base64url");
  return packed.length > maxCharacters ? undefined : packed;
}

/** Reverses `packSettings`, possibly of another release; undefined for an invalid word. */
export function unpackSettings(packed: string): unknown {
  try {
    const text = brotliDecompressSync(Buffer.from(packed, "base64url"), { maxOutputLength: maxBytes });
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}
