import type { Underived } from "../../../adapters/aws/relay-invoker.ts";
import { nameOf } from "../../../domain/event/subjects.ts";
import { nameOfData } from "../../../domain/fetch/document-name.ts";
import { tableText } from "../core/table.ts";
import type { Repaired } from "./repair.ts";
import type { RepairedFailures } from "./repair-failures.ts";

export type RepairReport = { readonly data: object; readonly text: string; readonly isComplete: boolean };

type Parts = { readonly failures: RepairedFailures | undefined; readonly table: Repaired | undefined };

/** What a repair did, or with `dryRun` what it would do. */
export function repairReport({ failures, table }: Parts, dryRun: boolean): RepairReport {
  const left = [
    ...(failures?.kept ?? []).map(({ key, reason }) => ["batch", key, reason]),
    ...(table?.failed ?? []).map((failed) => [failed.change.type, nameOfChange(failed), failed.reason]),
    ...(table?.unreadable ?? []).map(({ pk, sk }) => ["item", `${pk} ${sk}`, "this release can't read it"]),
  ];
  const lines = [
    ...(failures === undefined ? [] : [failuresText(failures, dryRun)]),
    ...(table === undefined ? [] : [repairedText(table, dryRun)]),
    ...(left.length === 0 ? [] : ["", tableText(["LEFT", "NAME", "WHY"], left)]),
  ];
  const data = {
    ...(failures && { failures: { batches: failures.batches, changes: failures.changes } }),
    ...(table && { repaired: table.repaired }),
    left: left.map(([what, name, reason]) => ({ what, name, reason })),
  };
  return { data, text: lines.join("\n"), isComplete: left.length === 0 };
}

function failuresText({ batches, changes }: RepairedFailures, dryRun: boolean): string {
  const what = `${changes} changes in ${batches} batches that the relay did not deliver`;
  return dryRun
    ? `There are ${what}. Nothing was done.`
    : `Relayed ${what}; they are removed from the failures bucket.`;
}

function repairedText({ repaired: { events, states, documents } }: Repaired, dryRun: boolean): string {
  const what = `${events} events, ${states} states and ${documents} documents`;
  return dryRun
    ? `It would derive again what follows from ${what}. Nothing was done.`
    : `Repaired ${what}. Messages sent before are sent again, with the same ids.`;
}

function nameOfChange({ change }: Underived): string {
  switch (change.type) {
    case "event":
      return change.event.id;
    case "state":
    case "readiness":
      return nameOf(change.after.subject);
    case "document":
      return `${nameOf(change.after.subject)}/${nameOfData(change.after, "/")}`;
  }
}
