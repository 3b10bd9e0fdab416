import type { Clients } from "../core/clients.ts";
import { type Deployment, type DeploymentOptions, deploymentFlags } from "../core/deployment.ts";
import { commandLine } from "../core/text.ts";
import type { RegistrationStatus } from "../provider/registration.ts";
import type { QueueStatus } from "../status/work-queues.ts";

/**
 * `error`: something does not work; `warning`: something will fail, or needs attention; `info`: already
 * fixed.
 */
export type Severity = "error" | "warning" | "info";

export type Finding = {
  /**
   * A stable code for programs; the entry of docs/operate/runbook.md if an alarm watches the same problem.
   */
  readonly code: string;
  readonly severity: Severity;
  readonly what: string;
  readonly why: string;
  /** The command that fixes it, or shows how. */
  readonly fix: string;
  /** Set for an alarm; it is shown under the finding that explains it. */
  readonly isAlarm?: true;
  /** For an alarm whose cause is gone: when it ends at the latest, ISO 8601. */
  readonly clearsAt?: string;
};

export type Examination = {
  readonly deployment: Deployment;
  readonly clients: Clients;
  readonly now: Date;
  /** The provider's answer about webhooks, requested once. An answer shows that the token is valid. */
  readonly registrations: () => Promise<RegistrationStatus>;
  /** The stage's queues, requested once. */
  readonly queues: () => Promise<readonly QueueStatus[]>;
};

/** A check that passed, although an alarm with the same code may still be on. */
export type Well = {
  readonly code: string;
  /** Since when; a later alarm contradicts it. Undefined: measured now. */
  readonly since?: Date;
};

export type Examined = { readonly findings: readonly Finding[]; readonly well: readonly Well[] };

export type Check = {
  readonly name: string;
  readonly examine: (examination: Examination) => Promise<Examined>;
};

/** A check that passed and clears no alarm. */
export function found(findings: readonly Finding[]): Examined {
  return { findings, well: [] };
}

/** The command that deploys the settings and writes the outputs again. */
export function deployAgain(stage: string): string {
  return commandLine`npx cdk deploy -c stage=${stage} --outputs-file outputs.json`;
}

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
  if (deployment.local === undefined) return fix;
  if (fix.startsWith("npx cdk deploy")) return "npm start    (after Ctrl-C if it runs)";
  if (!fix.startsWith("aws ")) return fix;
  const { endpoint = "", region, credentials } = deployment.client;
  const environment = [
    commandLine`AWS_ENDPOINT_URL=${endpoint}`,
    commandLine`AWS_REGION=${region}`,
    commandLine`AWS_ACCESS_KEY_ID=${credentials?.accessKeyId ?? ""}`,
    commandLine`AWS_SECRET_ACCESS_KEY=${credentials?.secretAccessKey ?? ""}`,
  ];
  return [...environment, fix].join(" ");
}

function withFlags(fix: string, options: DeploymentOptions): string {
  const flags = deploymentFlags(options);
  if (flags.length === 0) return fix;
  return fix.replace(/( < token\.txt)?$/, (input) => commandLine` ${flags}` + input);
}
