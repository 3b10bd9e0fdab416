import type { Log, LogCode, LogFields } from "../../functions/runtime/log.ts";

export type LogEntry = { readonly code: LogCode } & LogFields;

/** A log that keeps its entries. */
export function keptLog(): { readonly log: Log; readonly entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  return { log: (code, fields = {}) => entries.push({ code, ...fields }), entries };
}
