import type { Clients } from "../core/clients.ts";
import { commandLine } from "../core/command-line.ts";
import type { Deployment } from "../core/deployment.ts";
import type { RegistrationStatus } from "../status/registration-status.ts";

/** `error`: something does not work; `warning`: it will not, or a person should look; `info`: it is fixed already. */
export type Severity = "error" | "warning" | "info";

/** Something that is wrong, and what a person does about it. */
export type Finding = {
  /** Stable, for programs: the entry of docs/operate/runbook.md where an alarm watches the same. */
  readonly code: string;
  readonly severity: Severity;
  readonly what: string;
  /** Why it matters. */
  readonly why: string;
  /** The command that fixes it, or shows how. */
  readonly fix: string;
  /** Whether it is an alarm that is on: it then stands beneath what was found of the same. */
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
  /** Since when; an alarm that went off later says otherwise. Absent: it was measured now. */
  readonly since?: Date;
};

export type Examined = { readonly findings: readonly Finding[]; readonly well: readonly Well[] };

export type Check = {
  /** A noun phrase for people. */
  readonly name: string;
  readonly examine: (examination: Examination) => Promise<Examined>;
};

/** A check that passed and clears no alarm. */
export function found(findings: readonly Finding[]): Examined {
  return { findings, well: [] };
}

/** How a stage is brought in line with its settings, and its outputs written again. */
export function deployAgain(stage: string): string {
  return commandLine`npx cdk deploy -c stage=${stage} --outputs-file outputs.json`;
}
