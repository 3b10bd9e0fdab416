import { commandLine } from "../core/command-line.ts";
import { type Deployment, type DeploymentOptions, deploymentFlags } from "../core/deployment.ts";

/** Advice for findings and alarms about the token. */
export const setToken = "npx income-events token set < token.txt";

/** A remedy with the flags of this deployment. */
export function remedyFor(
  fix: string,
  deployment: Pick<Deployment, "local" | "client">,
  options: DeploymentOptions,
): string {
  // A sandbox's token comes from a command, not from a file.
  if (fix === setToken && deployment.local?.sandbox?.control !== undefined)
    return ["npx income-events sandbox token", "npx income-events token set"]
      .map((command) => withFlags(command, options))
      .join(" | ");
  if (fix.startsWith("npx income-events")) return withFlags(fix, options);
  return deployment.local === undefined ? fix : onThisMachine(fix, deployment);
}

function withFlags(fix: string, options: DeploymentOptions): string {
  const flags = deploymentFlags(options);
  if (flags.length === 0) return fix;
  return fix.replace(/( < token\.txt)?$/, (input) => commandLine` ${flags}` + input);
}

function onThisMachine(fix: string, { client }: Pick<Deployment, "client">): string {
  if (fix.startsWith("npx cdk deploy")) return "npm start    (after Ctrl-C if it runs)";
  if (!fix.startsWith("aws ")) return fix;
  const { endpoint = "", region, credentials } = client;
  const environment = [
    commandLine`AWS_ENDPOINT_URL=${endpoint}`,
    commandLine`AWS_REGION=${region}`,
    commandLine`AWS_ACCESS_KEY_ID=${credentials?.accessKeyId ?? ""}`,
    commandLine`AWS_SECRET_ACCESS_KEY=${credentials?.secretAccessKey ?? ""}`,
  ];
  return [...environment, fix].join(" ");
}
