import { commandLine } from "@income-events/cli/core/text.ts";

/** The commands that do the same as a page. */

type Flags = Readonly<Record<string, string | number | boolean | undefined>>;

/** Flags of a command; one without a value is left out. */
function flags(values: Flags): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    if (value === undefined || value === "" || value === false) return [];
    return value === true ? [`--${name}`] : [`--${name}`, String(value)];
  });
}

export function record({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return commandLine`npx income-events records show ${kind} ${id}`;
}

export function event(id: string): string {
  return commandLine`npx income-events events show ${id}`;
}

export function logs(id: string): string {
  return commandLine`npx income-events logs ${id} --since 7d`;
}

/** @param filter by the names of the command's flags */
export function events(filter: Flags): string {
  return commandLine`npx income-events events ${["list", ...flags(filter)]}`;
}

/** Which document: whose, and which version of it. */
export type DocumentName = {
  readonly kind: string;
  readonly id: string;
  readonly endpoint: string;
  readonly dates?: string | undefined;
  readonly version: string;
};

export function document({ kind, id, endpoint, dates, version }: DocumentName): string {
  const wanted = flags({ dates, "of-version": version, changes: true });
  return commandLine`npx income-events documents get ${[kind, id, endpoint, ...wanted]}`;
}

/** @param filter by the names of the command's flags */
export function deadLetters(act: "redrive" | "show", queue: string, filter: Flags): string {
  return commandLine`npx income-events dlq ${[act, queue, ...flags(filter)]}`;
}

export function replay({ name, since }: { readonly name: string; readonly since: string }): string {
  return commandLine`npx income-events replay --subscriber ${name} --since ${since} --dry-run`;
}

export function tailSubscriber(name: string): string {
  return commandLine`npx income-events subscribers tail ${name}`;
}

export function provider(since: string): string {
  return commandLine`npx income-events status --section provider --since ${since}`;
}

export function mapping(kind: string): string {
  return commandLine`npx income-events mapping try webhook.json --kind ${kind}`;
}
