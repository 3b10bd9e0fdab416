import { generatedName, type Identity, identityOf, isRunType, nameProperty, type Place } from "./identity.ts";
import { noValue, resolveCondition, resolveValue, type Scope } from "./intrinsics.ts";
import { PlanError } from "./problems.ts";
import type { Template, TemplateResource } from "./template.ts";

/** Identities that the engines assigned to existing resources, by logical id. */
export type KnownIdentities = ReadonlyMap<string, Identity>;

/** The names of one stack: its resources, parameters and conditions, and AWS's pseudo parameters. */
export type StackScope = Scope & {
  /** Resources whose condition is true. */
  readonly resources: ReadonlyMap<string, TemplateResource>;
  /** @throws PlanError if this machine does not run the resource */
  identity(logicalId: string): Identity;
  name(logicalId: string): string;
};

/**
 * @param parameters override the template's defaults
 * @param known identities that the engines assigned
 */
export function stackScope(
  template: Template,
  place: Place,
  parameters: Readonly<Record<string, string>>,
  known: KnownIdentities,
): StackScope {
  const pseudo: Readonly<Record<string, unknown>> = {
    "AWS::AccountId": place.account,
    "AWS::NoValue": noValue,
    "AWS::NotificationARNs": [],
    "AWS::Partition": "aws",
    "AWS::Region": place.region,
    "AWS::StackId": `arn:aws:cloudformation:${place.region}:${place.account}:stack/${place.stackName}/local`,
    "AWS::StackName": place.stackName,
    "AWS::URLSuffix": "amazonaws.com",
  };

  const resource = (logicalId: string): TemplateResource => {
    const found = resources.get(logicalId);
    if (found !== undefined) return found;
    throw new PlanError(`it names ${logicalId}, which the template does not hold`, "Correct the reference.");
  };

  const parameter = (name: string): unknown => {
    const declared = template.Parameters[name];
    if (declared === undefined) return undefined;
    const value = parameters[name] ?? declared.Default;
    if (value === undefined) {
      throw new PlanError(`the parameter ${name} has neither a default nor a value`, "Pass a value for it.");
    }
    return /^(CommaDelimitedList|List<.*>)$/.test(declared.Type) ? String(value).split(",") : value;
  };

  const scope: Omit<StackScope, "resources"> = {
    ref: (name) => {
      if (Object.hasOwn(pseudo, name)) return pseudo[name];
      return parameter(name) ?? scope.identity(name).ref;
    },
    attribute: (logicalId, attribute) => {
      const value = scope.identity(logicalId).attributes[attribute];
      if (value !== undefined) return value;
      throw new PlanError(
        `the attribute ${attribute} of ${logicalId} (${resource(logicalId).Type}) is not known here`,
        "Use another attribute, or teach it to packages/local-stack/assembly/identity.ts.",
      );
    },
    condition: (name) => {
      if (!Object.hasOwn(template.Conditions, name)) {
        throw new PlanError(`the condition ${name} is not in the template`, "Correct the reference.");
      }
      return resolveCondition(template.Conditions[name], scope);
    },
    identity: (logicalId) => {
      const { Type } = resource(logicalId);
      if (!isRunType(Type)) {
        throw new PlanError(
          `it depends on ${logicalId} of type ${Type}, which the local runner does not run`,
          "Leave it out of the stack that runs here, or teach the type to local/.",
        );
      }
      return known.get(logicalId) ?? identityOf(Type, scope.name(logicalId), place);
    },
    name: (logicalId) => {
      const { Type, Properties } = resource(logicalId);
      if (!isRunType(Type)) return logicalId;
      if (Type === "AWS::Lambda::Alias")
        return `${resolveValue(Properties.FunctionName, scope)}:${resolveValue(Properties.Name, scope)}`;
      const property = nameProperty(Type);
      const given = property === undefined ? undefined : resolveValue(Properties[property], scope);
      if (typeof given === "string") return given;
      const isFifo = String(resolveValue(Properties.FifoQueue ?? false, scope)) === "true";
      return generatedName(Type, { logicalId, isFifo }, place);
    },
  };
  const resources = new Map(
    Object.entries(template.Resources).filter(
      ([, { Condition }]) => Condition === undefined || scope.condition(Condition),
    ),
  );
  return { ...scope, resources };
}
