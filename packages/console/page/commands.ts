import { commandLine } from "@income-events/cli/core/text.ts";

/** The commands that do the same as a page. */

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
export function events(filter: Readonly<Record<string, string | undefined>>): string {
  const flags = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`--${name}`, value],
  );
  return commandLine`npx income-events events ${["list", ...flags]}`;
}

/** Which document: whose, and which version of it. */
export type DocumentName = {
  readonly kind: string;
  readonly id: string;
  readonly endpoint: string;
  readonly dates?: string;
  readonly version: string;
};

export function document({ kind, id, endpoint, dates, version }: DocumentName): string {
  const of = [kind, id, endpoint, ...(dates === undefined ? [] : ["--dates", dates])];
  const flags = version === "" ? [] : ["--of-version", version];
  return commandLine`npx income-events documents get ${[...of, ...flags]} --changes`;
}

type DeadLetters = {
  readonly queue: string;
  /** Empty for any reason. */
  readonly reason: string;
  readonly isArchived: boolean;
  readonly limit?: number;
};

export function deadLetters(
  act: "redrive" | "show",
  { queue, reason, isArchived, limit }: DeadLetters,
): string {
  return commandLine`npx income-events dlq ${[
    act,
    queue,
    ...(reason === "" ? [] : ["--reason", reason]),
    ...(isArchived ? ["--archive"] : []),
    ...(limit === undefined ? [] : ["--limit", String(limit)]),
  ]}`;
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
