/**
 * CloudFormation's intrinsic functions, resolved to plain values.
 *
 * Source: CloudFormation template reference, "Intrinsic functions" and "Pseudo parameters".
 */

import { isObject } from "../gateway/operation.ts";
import { PlanError } from "./problems.ts";

/** Values of a template's names. Each function throws a `PlanError` for an unknown name. */
export type Scope = {
  ref(name: string): unknown;
  attribute(logicalId: string, attribute: string): string;
  condition(name: string): boolean;
};

/** Marker for `AWS::NoValue`: the property or list entry is removed. */
export const noValue = Symbol("AWS::NoValue");

/**
 * Resolves every intrinsic function within `value`.
 * @throws PlanError naming the function or name that cannot be resolved
 */
export function resolveValue(value: unknown, scope: Scope): unknown {
  if (typeof value === "string") return refuseDynamicReference(value);
  if (Array.isArray(value)) {
    return value.map((entry) => resolveValue(entry, scope)).filter((entry) => entry !== noValue);
  }
  if (!isObject(value)) return value;
  const call = intrinsicCall(value);
  if (call !== undefined) return callIntrinsic(call.name, call.argument, scope);
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, entry]) => [key, resolveValue(entry, scope)] as const)
      .filter(([, entry]) => entry !== noValue),
  );
}

/** Resolves a condition's expression (`Fn::Equals`, `Fn::And`, `Fn::Or`, `Fn::Not`, `Condition`). */
export function resolveCondition(expression: unknown, scope: Scope): boolean {
  const call = isObject(expression) ? intrinsicCall(expression) : undefined;
  if (call === undefined) throw malformed("a condition", expression);
  switch (call.name) {
    case "Condition":
      return scope.condition(text(call.argument, "Condition"));
    case "Fn::Equals": {
      const [left, right] = list(call.argument, call.name).map((entry) => resolveValue(entry, scope));
      return String(left) === String(right);
    }
    case "Fn::And":
      return list(call.argument, call.name).every((entry) => resolveCondition(entry, scope));
    case "Fn::Or":
      return list(call.argument, call.name).some((entry) => resolveCondition(entry, scope));
    case "Fn::Not":
      return !list(call.argument, call.name).every((entry) => resolveCondition(entry, scope));
    default:
      throw unknownIntrinsic(call.name);
  }
}

/** Logical ids and parameters that `value` references with Ref, Fn::GetAtt and Fn::Sub. */
export function referencesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  const call = intrinsicCall(value);
  if (call?.name === "Ref" && typeof call.argument === "string") return [call.argument];
  if (call?.name === "Fn::GetAtt") return [attributeReference(call.argument).logicalId];
  const own = call?.name === "Fn::Sub" ? namesInSub(call.argument) : [];
  return [...own, ...Object.values(value).flatMap(referencesIn)];
}

function callIntrinsic(name: string, argument: unknown, scope: Scope): unknown {
  switch (name) {
    case "Ref":
      return scope.ref(text(argument, name));
    case "Fn::GetAtt": {
      const { logicalId, attribute } = attributeReference(argument);
      return scope.attribute(logicalId, attribute);
    }
    case "Fn::Sub":
      return substitute(argument, scope);
    case "Fn::Join": {
      const [separator, entries] = list(argument, name);
      const parts = list(resolveValue(entries, scope), name);
      return parts.map((part) => scalar(part, name)).join(text(separator, name));
    }
    case "Fn::Select": {
      const [index, entries] = list(argument, name);
      return select(Number(resolveValue(index, scope)), list(resolveValue(entries, scope), name));
    }
    case "Fn::Split": {
      const [separator, source] = list(argument, name);
      return text(resolveValue(source, scope), name).split(text(separator, name));
    }
    case "Fn::If": {
      const [condition, yes, no] = list(argument, name);
      return resolveValue(scope.condition(text(condition, name)) ? yes : no, scope);
    }
    default:
      throw unknownIntrinsic(name);
  }
}

function substitute(argument: unknown, scope: Scope): string {
  const [template, variables] = typeof argument === "string" ? [argument, {}] : list(argument, "Fn::Sub");
  const own = isObject(variables) ? variables : {};
  return text(template, "Fn::Sub").replaceAll(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
    if (literal === "!") return `\${${name}}`;
    if (Object.hasOwn(own, name)) return scalar(resolveValue(own[name], scope), "Fn::Sub");
    const [logicalId, attribute] = splitOnce(name);
    const value = attribute === undefined ? scope.ref(name) : scope.attribute(logicalId, attribute);
    return scalar(value, "Fn::Sub");
  });
}

function namesInSub(argument: unknown): string[] {
  const [template, variables] = Array.isArray(argument) ? argument : [argument, {}];
  if (typeof template !== "string") return [];
  const own = isObject(variables) ? Object.keys(variables) : [];
  return [...template.matchAll(/\$\{([^!}][^}]*)\}/g)]
    .map(([, name]) => splitOnce(name ?? "")[0])
    .filter((name) => !own.includes(name));
}

function intrinsicCall(
  value: Readonly<Record<string, unknown>>,
): { name: string; argument: unknown } | undefined {
  const entries = Object.entries(value);
  const [first] = entries;
  if (first === undefined || entries.length > 1) return undefined;
  const [name, argument] = first;
  const isCall =
    name === "Ref" || name.startsWith("Fn::") || (name === "Condition" && typeof argument === "string");
  return isCall ? { name, argument } : undefined;
}

function attributeReference(argument: unknown): { logicalId: string; attribute: string } {
  const [logicalId, attribute] =
    typeof argument === "string" ? splitOnce(argument) : list(argument, "Fn::GetAtt");
  return { logicalId: text(logicalId, "Fn::GetAtt"), attribute: text(attribute, "Fn::GetAtt") };
}

function splitOnce(name: string): [string, string | undefined] {
  const dot = name.indexOf(".");
  return dot < 0 ? [name, undefined] : [name.slice(0, dot), name.slice(dot + 1)];
}

function select(index: number, entries: readonly unknown[]): unknown {
  if (!Number.isInteger(index) || index < 0 || index >= entries.length) {
    throw new PlanError(
      `Fn::Select asks for entry ${index} of ${entries.length}`,
      "Correct the index or the list.",
    );
  }
  return entries[index];
}

function refuseDynamicReference(value: string): string {
  if (!value.includes("{{resolve:")) return value;
  throw new PlanError(
    `the dynamic reference ${value} has no value on this machine`,
    "Pass the value as a parameter, or read it in the function.",
  );
}

function scalar(value: unknown, name: string): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return String(value);
  }
  throw malformed(name, value);
}

function text(value: unknown, name: string): string {
  if (typeof value === "string") return value;
  throw malformed(name, value);
}

function list(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw malformed(name, value);
}

function malformed(name: string, value: unknown): PlanError {
  return new PlanError(`${name} has the argument ${JSON.stringify(value)}`, "Correct the template.");
}

function unknownIntrinsic(name: string): PlanError {
  return new PlanError(
    `the intrinsic function ${name} is not known here`,
    "Write the template without it, or teach it to packages/local-stack/assembly/intrinsics.ts.",
  );
}
