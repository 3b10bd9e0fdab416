import type { Clients } from "../core/clients.ts";
import type { Deployment } from "../core/deployment.ts";

/** Something that is wrong, and what a person does about it. */
export type Finding = {
  readonly what: string;
  /** Why it matters. */
  readonly why: string;
  /** The command that fixes it, or shows how. */
  readonly fix: string;
};

export type Examination = {
  readonly deployment: Deployment;
  readonly clients: Clients;
  readonly now: Date;
};

export type Check = {
  /** What is looked at, for people. */
  readonly name: string;
  readonly examine: (examination: Examination) => Promise<readonly Finding[]>;
};

/** How a stage is brought in line with its settings, and its outputs written again. */
export function deployAgain(stage: string): string {
  return `npx cdk deploy -c stage=${stage} --outputs-file outputs.json`;
}
