import type { Clients } from "../core/clients.ts";
import { commandLine } from "../core/command-line.ts";
import type { Deployment } from "../core/deployment.ts";
import type { RegistrationStatus } from "../status/registration-status.ts";

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
