import { FilterPatternError } from "../gateway/logs/filter-pattern.ts";
import { UnsupportedPolicyError } from "../iam/policy.ts";
import { checkEventSource } from "../sources/creation-checks.ts";
import { checkQueues } from "./check-queues.ts";
import { isRunType, onlyWatches, type Place, type RunType } from "./identity.ts";
import { referencesIn, resolveValue } from "./intrinsics.ts";
import type { StackPlan } from "./plan.ts";
import { planAlarm, planCompositeAlarm, planMetricFilter, unmeasuredAlarms } from "./plan-alarms.ts";
import { planApi, planDomains, planRoute, planStage, planUrl } from "./plan-api.ts";
import {
  planBucket,
  planBucketPolicy,
  planQueue,
  planQueuePolicy,
  planSecret,
  planSecretPolicy,
  planTable,
} from "./plan-data.ts";
import { planEventSource, planRule } from "./plan-event-source.ts";
import { planExport } from "./plan-export.ts";
import { planAlias, planFunction, planInvokeConfig } from "./plan-function.ts";
import { mergePolicies, planPermission } from "./plan-permissions.ts";
import { PlanError, type Problem, UnrunnableAssemblyError } from "./problems.ts";
import type { Planner } from "./properties.ts";
import type { SynthesizedStack } from "./read-assembly.ts";
import { type KnownIdentities, type StackScope, stackScope } from "./stack-scope.ts";
import type { TemplateResource } from "./template.ts";

export type PlanOptions = {
  readonly region: string;
  readonly account: string;
  readonly parameters?: Readonly<Record<string, string>>;
  /** Identities that engines assigned to existing resources; absent before anything is started. */
  readonly known?: KnownIdentities;
};

/**
 * Plans a synthesized stack. Has no effects, so it runs twice: before the start, to list all problems, and
 * again with the identities that the engines assigned.
 * @throws UnrunnableAssemblyError with every problem, each with its logical id and remedy
 */
export function planStack(stack: SynthesizedStack, options: PlanOptions): StackPlan {
  const place: Place = { stackName: stack.name, region: options.region, account: options.account };
  const problems = new ProblemList();
  const scope = problems.attempt("Conditions", () =>
    stackScope(stack.template, place, options.parameters ?? {}, options.known ?? new Map()),
  );
  if (scope === undefined) throw new UnrunnableAssemblyError(stack.directory, problems.found);
  problems.add(...unknownCallers(scope));

  /** Plans every resource of a type. Notes and omits those that cannot be planned. */
  const each = <T>(type: RunType, plan: Planner<T>): T[] =>
    [...scope.resources].flatMap(([logicalId, resource]) => {
      const { Type, Properties } = resource;
      if (Type !== type || watchesWhatIsNotRun(resource, scope)) return [];
      const planned = problems.attempt(logicalId, () => plan(logicalId, Properties, scope));
      return planned === undefined ? [] : [planned];
    });

  const queues = each("AWS::SQS::Queue", planQueue);
  const tables = [
    ...each("AWS::DynamoDB::Table", planTable),
    ...each("AWS::DynamoDB::GlobalTable", planTable),
  ];
  const buckets = each("AWS::S3::Bucket", planBucket);
  const secrets = each("AWS::SecretsManager::Secret", planSecret);
  const invokeConfigs = each("AWS::Lambda::EventInvokeConfig", planInvokeConfig);
  const aliases = each("AWS::Lambda::Alias", planAlias);
  const functions = each("AWS::Lambda::Function", (id) => {
    const { ref } = scope.identity(id);
    const invokeConfig = invokeConfigs.find(({ functionName }) => functionName === ref);
    return planFunction(id, scope, stack.assets, { invokeConfig, aliases });
  });
  const sources = each("AWS::Lambda::EventSourceMapping", (id, properties) =>
    planEventSource(id, properties, scope, { queues, tables, buckets }),
  );
  const permissions = each("AWS::Lambda::Permission", planPermission);
  const dataPolicies = [
    ...each("AWS::SQS::QueuePolicy", (id, properties) => planQueuePolicy(id, properties, scope, queues)),
    ...each("AWS::S3::BucketPolicy", planBucketPolicy),
    ...each("AWS::SecretsManager::ResourcePolicy", planSecretPolicy),
  ];
  const urls = each("AWS::Lambda::Url", planUrl);
  const rules = each("AWS::Events::Rule", planRule);
  const metricFilters = each("AWS::Logs::MetricFilter", planMetricFilter);
  const alarms = each("AWS::CloudWatch::Alarm", planAlarm);
  const compositeAlarms = each("AWS::CloudWatch::CompositeAlarm", planCompositeAlarm);
  const stages = each("AWS::ApiGatewayV2::Stage", planStage);
  const routes = each("AWS::ApiGatewayV2::Route", planRoute);
  const apis = each("AWS::ApiGatewayV2::Api", (id, properties) => {
    const planned = planApi(id, properties, scope);
    const isOwn = ({ apiId }: { readonly apiId: string }) => apiId === planned.id;
    const domains = planDomains(id, scope);
    return { ...stages.find(isOwn), ...planned, routes: routes.filter(isOwn), domains };
  });
  const measured = [
    ...apis.map(({ id }) => id),
    ...[...functions, ...queues, ...tables].map(({ name }) => name),
  ];
  const names = new Set([
    ...measured,
    ...sources.filter(({ countsEvents }) => countsEvents).map(({ id }) => id),
  ]);
  problems.add(...unmeasuredAlarms(alarms, metricFilters, names));
  const resourcePolicies = mergePolicies([...permissions, ...dataPolicies.flat()]);
  for (const source of sources) {
    const target = functions.find(({ logicalId }) => logicalId === source.function);
    if (target !== undefined) problems.add(...checkEventSource(source, target, resourcePolicies));
  }
  problems.add(...checkQueues(queues));
  const exports = planExports(stack, scope, problems);
  if (problems.found.length > 0) throw new UnrunnableAssemblyError(stack.directory, problems.found);
  const outputs = planOutputs(stack, scope);
  return {
    name: stack.name,
    queues,
    tables,
    buckets,
    secrets,
    functions,
    sources,
    apis,
    urls,
    rules,
    metricFilters,
    alarms,
    compositeAlarms,
    resourcePolicies,
    resources: listResources(scope),
    outputs: outputs.values,
    exports,
    notRun: [...outputs.notResolved, ...resourcesNotRun(scope)],
  };
}

/** Plans the names of exported outputs. Notes and omits those that cannot be exported. */
function planExports(
  { template }: SynthesizedStack,
  scope: StackScope,
  problems: ProblemList,
): Record<string, string> {
  const exports = Object.entries(template.Outputs).flatMap(([output, { Condition, Export }]) => {
    if (Export === undefined || (Condition !== undefined && !scope.condition(Condition))) return [];
    return problems.attempt(output, () => [[output, planExport(Export.Name, scope)] as const]) ?? [];
  });
  return Object.fromEntries(exports);
}

class ProblemList {
  readonly found: Problem[] = [];

  add(...problems: readonly Problem[]): void {
    for (const problem of problems) {
      const known = this.found.some(
        ({ logicalId, what }) => logicalId === problem.logicalId && what === problem.what,
      );
      if (!known) this.found.push(problem);
    }
  }

  /** Runs one planning step. A PlanError becomes a problem of the named resource. */
  attempt<T>(logicalId: string, plan: () => T): T | undefined {
    try {
      return plan();
    } catch (error) {
      if (error instanceof PlanError) this.add({ logicalId, what: error.message, remedy: error.remedy });
      else if (error instanceof UnsupportedPolicyError || error instanceof FilterPatternError) {
        this.add({ logicalId, what: error.message, remedy: "Nothing in the stack runs until then." });
      } else throw error;
      return undefined;
    }
  }
}

/**
 * Finds resources of unknown types that name a function or its role: they could call it or grant permissions.
 */
function unknownCallers(scope: StackScope): Problem[] {
  const isOfFunctions = (logicalId: string): boolean => {
    const type = scope.resources.get(logicalId)?.Type;
    return type === "AWS::Lambda::Function" || type === "AWS::IAM::Role";
  };
  return [...scope.resources].flatMap(([logicalId, { Type, Properties }]) => {
    if (isRunType(Type) || onlyWatches(Type)) return [];
    const named = referencesIn(Properties).find(isOfFunctions);
    if (named === undefined) return [];
    return [
      {
        logicalId,
        what: `its type ${Type} is not known here, and it names ${named}`,
        remedy: "Leave it out of the stack that runs here, or teach the type to local/.",
      },
    ];
  });
}

function planOutputs(
  { template }: SynthesizedStack,
  scope: StackScope,
): { readonly values: Record<string, string>; readonly notResolved: string[] } {
  const values: Record<string, string> = {};
  const notResolved: string[] = [];
  for (const [name, { Value, Condition }] of Object.entries(template.Outputs)) {
    if (Condition !== undefined && !scope.condition(Condition)) continue;
    try {
      values[name] = String(resolveValue(Value, scope));
    } catch (error) {
      if (!(error instanceof PlanError)) throw error;
      notResolved.push(`output ${name}: ${error.message}`);
    }
  }
  return { values, notResolved };
}

function listResources(scope: StackScope): StackPlan["resources"] {
  return [...scope.resources].flatMap(([logicalId, { Type }]) =>
    isRunType(Type) ? [{ logicalId, type: Type, physicalId: scope.identity(logicalId).ref }] : [],
  );
}

function resourcesNotRun(scope: StackScope): string[] {
  return [...scope.resources]
    .filter(([, resource]) => isNotRun(resource.Type) || watchesWhatIsNotRun(resource, scope))
    .map(([logicalId, { Type }]) => `${logicalId} (${Type})`);
}

/** Whether it is an alarm on a resource that is ignored here, such as a vault of backups. */
function watchesWhatIsNotRun({ Type, Properties }: TemplateResource, { resources }: StackScope): boolean {
  if (Type !== "AWS::CloudWatch::Alarm") return false;
  const watched = referencesIn([Properties.Dimensions, Properties.Metrics]);
  return watched.some((logicalId) => onlyWatches(resources.get(logicalId)?.Type ?? ""));
}

/** Whether the type is ignored here. KMS keys do nothing but have a name that others refer to. */
function isNotRun(type: string): boolean {
  return type === "AWS::KMS::Key" || (!isRunType(type) && type !== "AWS::CDK::Metadata");
}
