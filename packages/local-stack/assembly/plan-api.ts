import { z } from "zod";
import { functionIdOf } from "./function-reference.ts";
import type { ApiPlan, RoutePlan } from "./plan.ts";
import { PlanError } from "./problems.ts";
import { boolean, number, parseProperties } from "./properties.ts";
import type { StackScope } from "./stack-scope.ts";

type Properties = Readonly<Record<string, unknown>>;

const apiSchema = z.strictObject({
  Name: z.string().optional(),
  ProtocolType: z.literal("HTTP"),
});
const ignoredOfApis = ["Description", "DisableExecuteApiEndpoint", "DisableSchemaValidation", "Tags"];
const integrationSchema = z.strictObject({
  ApiId: z.string(),
  IntegrationType: z.literal("AWS_PROXY"),
  IntegrationUri: z.string(),
  IntegrationMethod: z.string().optional(),
  PayloadFormatVersion: z.literal("2.0"),
  TimeoutInMillis: number.default(30_000),
});
const routeSchema = z.strictObject({
  ApiId: z.string(),
  AuthorizationType: z.literal("NONE").optional(),
  RouteKey: z.string().regex(/^(\$default|(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|ANY) \/\S*)$/),
  Target: z.string(),
});
const stageSchema = z.strictObject({
  AccessLogSettings: z.strictObject({ DestinationArn: z.string(), Format: z.string() }).optional(),
  ApiId: z.string(),
  AutoDeploy: boolean.optional(),
  DefaultRouteSettings: z
    .strictObject({ ThrottlingBurstLimit: number.optional(), ThrottlingRateLimit: number.optional() })
    .optional(),
  StageName: z.literal("$default"),
});
const ignoredOfStages = ["Description", "Tags"];

/** Checks the API's own settings; its routes are planned one by one. */
export function planApi(
  logicalId: string,
  properties: Properties,
  scope: StackScope,
): Pick<ApiPlan, "logicalId" | "id"> {
  parseProperties(apiSchema, properties, scope, ignoredOfApis);
  return { logicalId, id: scope.identity(logicalId).ref };
}

/** Only the default stage is served, as it stands without a prefix in the path. */
export function planStage(
  properties: Properties,
  scope: StackScope,
): Pick<ApiPlan, "throttle" | "accessLog"> & { readonly apiId: string } {
  const stage = parseProperties(stageSchema, properties, scope, ignoredOfStages);
  const { ThrottlingRateLimit: ratePerSecond, ThrottlingBurstLimit: burst } =
    stage.DefaultRouteSettings ?? {};
  const log = stage.AccessLogSettings;
  const logGroupName = log?.DestinationArn.split(":log-group:")[1]?.replace(/:\*$/, "");
  return {
    apiId: stage.ApiId,
    ...(ratePerSecond !== undefined && burst !== undefined && { throttle: { ratePerSecond, burst } }),
    ...(log !== undefined &&
      logGroupName !== undefined && { accessLog: { logGroupName, format: log.Format } }),
  };
}

/** A route with the function behind its integration. */
export function planRoute(
  logicalId: string,
  properties: Properties,
  scope: StackScope,
): RoutePlan & { readonly apiId: string } {
  const route = parseProperties(routeSchema, properties, scope);
  const integrationId = [...scope.resources]
    .filter(([, { Type }]) => Type === "AWS::ApiGatewayV2::Integration")
    .map(([id]) => id)
    .find((id) => `integrations/${scope.identity(id).ref}` === route.Target);
  if (integrationId === undefined) {
    throw new PlanError(`its target ${route.Target} is not in the stack`, "Correct the reference.");
  }
  const integration = parseProperties(
    integrationSchema,
    scope.resources.get(integrationId)?.Properties ?? {},
    scope,
    ["Description"],
  );
  return {
    apiId: route.ApiId,
    logicalId,
    key: route.RouteKey,
    function: functionIdOf(integration.IntegrationUri, scope),
    timeoutMilliseconds: integration.TimeoutInMillis,
  };
}
