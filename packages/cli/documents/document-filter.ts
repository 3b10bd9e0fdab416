import { present } from "../../../domain/core/parse.ts";
import { endpointName } from "../../../domain/event/events.ts";
import type { Document } from "../../../domain/fetch/document.ts";
import { CommandError } from "../core/command-error.ts";
import { periodFlags } from "../core/flags.ts";

/** A filter of documents. Times are in milliseconds since 1970. */
export type DocumentFilter = {
  readonly endpoint?: string;
  /** Documents whose data changed since then. */
  readonly since?: number;
  readonly until?: number;
};

export type FilterFlags = { readonly endpoint?: string; readonly since?: string; readonly until?: string };

/** @throws CommandError naming the flag */
export function filterFlags({ endpoint, ...period }: FilterFlags, now: Date): DocumentFilter {
  if (endpoint !== undefined && !endpointName.test(endpoint))
    throw CommandError.usage(
      `--endpoint ${JSON.stringify(endpoint)} is not the name of an endpoint. Write for example income.`,
    );
  const { since, until } = periodFlags(period, now);
  return present<DocumentFilter>({
    endpoint,
    since: since === undefined ? undefined : Date.parse(since),
    until: until === undefined ? undefined : Date.parse(until),
  });
}

/** Whether a document matches. One without data at the provider does not. */
export function selects(
  { endpoint, since = 0, until = Infinity }: DocumentFilter,
  document: Document,
): boolean {
  const { digest, announced } = document;
  if (digest === undefined || announced === undefined) return false;
  return (
    (endpoint === undefined || document.endpoint === endpoint) && announced >= since && announced < until
  );
}
