import type { FunctionPlan } from "../assembly/plan.ts";

export type Credentials = { readonly accessKeyId: string; readonly secretAccessKey: string };

/**
 * Environment of a function's process: the template's variables and those that Lambda adds. Inherits nothing
 * from the runner.
 * Source: Lambda developer guide, "Defined runtime environment variables".
 */
export function functionEnvironment(
  plan: FunctionPlan,
  credentials: Credentials,
  endpoint: { readonly gatewayUrl: string; readonly region: string },
): Readonly<Record<string, string>> {
  return {
    ...plan.environment,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_ENDPOINT_URL: endpoint.gatewayUrl,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(plan.memoryMb),
    AWS_LAMBDA_FUNCTION_NAME: plan.name,
    ...(plan.jsonLog && { AWS_LAMBDA_LOG_FORMAT: "JSON", AWS_LAMBDA_LOG_LEVEL: plan.jsonLog.level }),
    AWS_REGION: endpoint.region,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: "local",
    LAMBDA_TASK_ROOT: plan.directory,
    PATH: "/usr/local/bin:/usr/bin:/bin",
    TZ: ":UTC",
  };
}
