import { Duration, Size, Token } from "aws-cdk-lib";
import type { IPrincipal } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { SettingsError } from "../settings/settings-error.ts";

/** Converts a duration or a size to a number. The end of a setting's name is its unit. */
const units: readonly (readonly [end: RegExp, kind: string, of: (value: unknown) => number | undefined])[] = [
  [/Seconds$/, "a Duration", (value) => (value instanceof Duration ? value.toSeconds() : undefined)],
  [/Minutes$/, "a Duration", (value) => (value instanceof Duration ? value.toMinutes() : undefined)],
  [/Hours$/, "a Duration", (value) => (value instanceof Duration ? value.toHours() : undefined)],
  [/Days$/, "a Duration", (value) => (value instanceof Duration ? value.toDays() : undefined)],
  [/Mb$/, "a Size", (value) => (value instanceof Size ? value.toMebibytes() : undefined)],
  [/Bytes$/, "a Size", (value) => (value instanceof Size ? value.toBytes() : undefined)],
];

/**
 * Converts settings that use CDK classes to those of a settings file: `Duration` and `Size` become numbers in the unit
 * of the setting's name, principals become account ids and ARNs. Roles and users of the app are left out; see
 * `principalsOfApp`.
 * @throws SettingsError for a value that the setting does not accept, and for a principal that is known only at deploy
 * time
 */
export function plainSettings(written: unknown, where: string, path: readonly string[] = []): unknown {
  if (Array.isArray(written))
    return written.flatMap((each, index) =>
      path.at(-1) === "principals" && isOfApp(each)
        ? []
        : [plainSettings(each, where, [...path, String(index)])],
    );
  const refuse = (why: string) => new SettingsError(`Settings in ${where}:\n  ${path.join(".")}: ${why}`);
  if (path.at(-2) === "principals" && Token.isUnresolved(written)) throw refuse(knownLate);
  if (typeof written !== "object" || written === null) return written;
  if (written instanceof Duration || written instanceof Size) return numberOf(written, path, refuse);
  if (path.at(-2) === "principals" && "policyFragment" in written) return textOf(written, refuse);
  return Object.fromEntries(
    Object.entries(written).map(([key, value]) => [key, plainSettings(value, where, [...path, key])]),
  );
}

/**
 * Roles and users of the app among a subscriber's principals. Their ARNs are known only at deploy time, too late for a
 * function's code, so they get grants.
 */
export function principalsOfApp(subscriber: unknown): readonly (IPrincipal & Construct)[] {
  const { principals }: { readonly principals?: unknown } = Object(subscriber);
  return Array.isArray(principals) ? principals.filter(isOfApp) : [];
}

function isOfApp(principal: unknown): principal is IPrincipal & Construct {
  if (!Construct.isConstruct(principal) || !("policyFragment" in principal)) return false;
  const arn = "roleArn" in principal ? principal.roleArn : "userArn" in principal && principal.userArn;
  return Token.isUnresolved(arn);
}

const knownLate =
  "is known at deploy time only; pass the role or user of your app itself, or write an account's 12 digits or an ARN";

type Refuse = (why: string) => SettingsError;

function numberOf(value: Duration | Size, path: readonly string[], refuse: Refuse): number {
  const unit = units.find(([end]) => end.test(path.at(-1) ?? ""));
  if (value.isUnresolved()) throw refuse("is known at deploy time only; write a number");
  if (unit === undefined) throw refuse("takes neither a Duration nor a Size; write a number");
  const [, kind, of] = unit;
  try {
    const number = of(value);
    if (number !== undefined) return number;
  } catch (error) {
    throw refuse(`${error instanceof Error ? error.message : String(error)}; write one that is`);
  }
  throw refuse(`takes a number or ${kind}`);
}

/** Account id of an account principal, or ARN of a role or user. */
function textOf(principal: object, refuse: Refuse): string {
  const fields: Partial<IPrincipal & Record<"accountId" | "roleArn" | "userArn" | "arn", unknown>> =
    principal;
  const text = [fields.accountId, fields.roleArn, fields.userArn, fields.arn].find(
    (each) => typeof each === "string" || typeof each === "number",
  );
  if (text === undefined) throw refuse("is neither an account nor a role or a user");
  if (Token.isUnresolved(text)) throw refuse(knownLate);
  return String(text);
}
