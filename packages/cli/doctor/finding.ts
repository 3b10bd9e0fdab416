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
  /** Of an alarm that is on for what is over: when it is off at the latest, in ISO 8601. */
  readonly clearsAt?: string;
};

export type Examination = {
  readonly deployment: Deployment;
  readonly clients: Clients;
  readonly now: Date;
  /** What the provider says of the webhooks, asked once: that it answers shows that it takes the token. */
  readonly registrations: () => Promise<RegistrationStatus>;
};

/** What a check has found well, though an alarm of the same code may still be on. */
export type Well = {
  readonly code: string;
  /** Since when; an alarm that went off later says otherwise. Absent: it was measured now. */
  readonly since?: Date;
};

export type Examined = { readonly findings: readonly Finding[]; readonly well: readonly Well[] };

export type Check = {
  /** What is looked at, for people. */
  readonly name: string;
  readonly examine: (examination: Examination) => Promise<Examined>;
};

/** What a check found that clears no alarm. */
export function found(findings: readonly Finding[]): Examined {
  return { findings, well: [] };
}

/** How a stage is brought in line with its settings, and its outputs written again. */
export function deployAgain(stage: string): string {
  return commandLine`npx cdk deploy -c stage=${stage} --outputs-file outputs.json`;
}
