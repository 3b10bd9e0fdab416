import { z } from "zod";
import { referencesIn, resolveValue } from "./intrinsics.ts";
import type { ApiPlan, RoutePlan, RouteThrottle, UrlPlan } from "./plan.ts";
import { PlanError } from "./problems.ts";
import { boolean, functionIdOf, number, type Planner, parseProperties } from "./properties.ts";
import type { StackScope } from "./stack-scope.ts";

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
const routeSettings = z.strictObject({
  ThrottlingBurstLimit: number.optional(),
  ThrottlingRateLimit: number.optional(),
});
const stageSchema = z.strictObject({
  AccessLogSettings: z.strictObject({ DestinationArn: z.string(), Format: z.string() }).optional(),
  ApiId: z.string(),
  AutoDeploy: boolean.optional(),
  DefaultRouteSettings: routeSettings.optional(),
  RouteSettings: z.record(z.string(), routeSettings).default({}),
  StageName: z.literal("$default"),
});
const ignoredOfStages = ["Description", "Tags"];

type OfApi = { readonly apiId: string };

/** Checks the API's own settings. Routes are planned separately. */
export const planApi: Planner<Pick<ApiPlan, "logicalId" | "id">> = (logicalId, properties, scope) => {
  parseProperties(apiSchema, properties, scope, ignoredOfApis);
  return { logicalId, id: scope.identity(logicalId).ref };
};

/** Only the default stage is served: it has no prefix in the path. */
export const planStage: Planner<OfApi & Pick<ApiPlan, "throttle" | "accessLog">> = (_, properties, scope) => {
  const stage = parseProperties(stageSchema, properties, scope, ignoredOfStages);
  const byDefault = throttleIn(stage.DefaultRouteSettings ?? {});
  const routes = Object.entries(stage.RouteSettings).flatMap(([key, settings]) => {
    const throttle = throttleIn(settings);
    return throttle === undefined ? [] : [[key, throttle] as const];
  });
  const log = stage.AccessLogSettings;
  const logGroupName = log?.DestinationArn.split(":log-group:")[1]?.replace(/:\*$/, "");
  return {
    apiId: stage.ApiId,
    ...(byDefault !== undefined && { throttle: { ...byDefault, routes: Object.fromEntries(routes) } }),
    ...(log !== undefined &&
      logGroupName !== undefined && { accessLog: { logGroupName, format: log.Format } }),
  };
};

function throttleIn({
  ThrottlingRateLimit: ratePerSecond,
  ThrottlingBurstLimit: burst,
}: z.output<typeof routeSettings>): RouteThrottle | undefined {
  return ratePerSecond === undefined || burst === undefined ? undefined : { ratePerSecond, burst };
}

export const planRoute: Planner<RoutePlan & OfApi> = (logicalId, properties, scope) => {
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
};

/**
 * Custom domain names of an API. They are not served here: the API's local address replaces each.
 * @param api logical id
 */
export function planDomains(api: string, scope: StackScope): readonly string[] {
  const mapped = [...scope.resources.values()]
    .filter(({ Type }) => Type === "AWS::ApiGatewayV2::ApiMapping")
    .map(({ Properties }) => referencesIn(Properties))
    .filter((references) => references.includes(api))
    .flat();
  return [...scope.resources]
    .filter(([id, { Type }]) => Type === "AWS::ApiGatewayV2::DomainName" && mapped.includes(id))
    .map(([, { Properties }]) => String(resolveValue(Properties.DomainName, scope)));
}

const urlSchema = z.strictObject({
  AuthType: z.literal("AWS_IAM"),
  InvokeMode: z.enum(["BUFFERED", "RESPONSE_STREAM"]).default("BUFFERED"),
  TargetFunctionArn: z.string(),
});

/** Plans a function URL with IAM authorization. A URL that is open to all is refused. */
export const planUrl: Planner<UrlPlan> = (logicalId, properties, scope) => {
  const parsed = parseProperties(urlSchema, properties, scope);
  return {
    logicalId,
    url: scope.attribute(logicalId, "FunctionUrl"),
    function: functionIdOf(parsed.TargetFunctionArn, scope),
    streams: parsed.InvokeMode === "RESPONSE_STREAM",
  };
};
