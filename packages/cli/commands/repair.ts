import type { Command } from "commander";
import {
  changeRelay,
  type FailedChange,
  type RelayRecords,
  relayInvoker,
} from "../../../adapters/aws/relay-invoker.ts";
import { storedChanges } from "../../../adapters/streams/stored-changes.ts";
import { failedBatches } from "../../../adapters/streams/undelivered-changes.ts";
import { nameOf } from "../../../domain/event/subjects.ts";
import { nameOfData } from "../../../domain/fetch/document.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { agreeToScan } from "../core/scan-consent.ts";
import { tableText } from "../core/table.ts";
import { counted } from "../core/text.ts";
import { checkKnown, recordsIn } from "../records/known-records.ts";
import {
  type Repaired,
  type RepairedFailures,
  type RepairScope,
  repair,
  repairFailures,
  repairScope,
  type ScopeFlags,
} from "../recovery/repair.ts";

type Flags = ScopeFlags & { readonly dryRun?: boolean };

export function addTo(program: Command): void {
  addCommand<Flags>(program, {
    name: "repair",
    summary:
      "Derives states, fetches and messages from stored events again: for changes that the relay did not deliver, or after a relay outage of more than 24 hours.",
    asks: true,
    subject: ["repair from the table: this", " and its accounts"],
    examples: [
      "npx income-events repair --failures    relay undelivered changes, then remove them from the bucket",
      "npx income-events repair --since 2026-03-01T06:00:00Z --until 2026-03-03    an outage; reads the whole table",
      "npx income-events repair --user 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
      "npx income-events repair --all --dry-run",
    ],
    run,
  })
    .option("--failures", "repair from the failures bucket: undelivered changes")
    .option(
      "--since <time>",
      "repair from the table: received since a date, a date-time, or a time ago (90m, 24h, 7d)",
    )
    .option("--until <time>", "repair from the table: received before")
    .option("--all", "repair from the table: everything")
    .option("--dry-run", "only count what would be repaired");
}

async function run(operation: Operation, flags: Flags): Promise<void> {
  const scope = repairScope(flags, new Date());
  const { deployment, clients, terminal } = operation;
  const { dryRun = false } = flags;
  if (scope?.subject !== undefined) await checkKnown(scope.subject, operation);
  const nothing: RelayRecords = async () => [];
  const relay = dryRun ? nothing : relayInvoker(clients.lambda, deployment.output("RelayFunctionName"));
  const failures = flags.failures === true ? await repairBucket(operation, relay, dryRun) : undefined;
  const table = scope && (await repairTable(operation, relay, scope));
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
  terminal.result(
    {
      ...{ stage: deployment.stage, dryRun },
      ...(failures && { failures: { batches: failures.batches, changes: failures.changes } }),
      ...(table && { repaired: table.repaired }),
      left: left.map(([what, name, reason]) => ({ what, name, reason })),
    },
    lines.join("\n"),
  );
  if (left.length === 0) return;
  throw CommandError.failed(
    "Some changes could not be repaired: see above. Fix the cause, then run: npx income-events repair --failures",
  );
}

function repairBucket({ deployment, clients, terminal }: Operation, relay: RelayRecords, dryRun: boolean) {
  const batches = failedBatches(clients.s3, deployment.output("FailuresBucketName"));
  const onBatch = (count: number) => terminal.step(`Relayed ${counted(count, "batch", "batches")}.`);
  return repairFailures(batches, relay, dryRun, onBatch);
}

async function repairTable(
  operation: Operation,
  relay: RelayRecords,
  { subject, period }: RepairScope,
): Promise<Repaired> {
  const stored = storedChanges(operation.clients.dynamodb, operation.deployment.output("TableName"));
  const onPage = subject === undefined ? await agreeToScan(operation) : () => undefined;
  const pages = subject === undefined ? stored.all() : stored.of(subject);
  return repair({ pages, records: recordsIn(operation), relay: changeRelay(relay), onPage }, period);
}

function failuresText({ batches, changes, kept }: RepairedFailures, dryRun: boolean): string {
  if (batches + kept.length === 0) return "No undelivered changes.";
  const what = `${counted(changes, "change")} in ${counted(batches, "batch", "batches")} that the relay did not deliver`;
  return dryRun
    ? `Found ${what}. Nothing was done.`
    : `Relayed ${what}; they are removed from the failures bucket.`;
}

function repairedText({ repaired: { events, states, documents } }: Repaired, dryRun: boolean): string {
  const what = `${counted(events, "event")}, ${counted(states, "state")} and ${counted(documents, "document")}`;
  return dryRun
    ? `A repair would process ${what} again. Nothing was done.`
    : `Repaired ${what}. Messages sent before are sent again, with the same ids.`;
}

function nameOfChange({ change }: FailedChange): string {
  switch (change.type) {
    case "event":
      return change.event.id;
    case "state":
    case "readiness":
    case "userReadiness":
      return nameOf(change.after.subject);
    case "document":
      return `${nameOf(change.after.subject)}/${nameOfData(change.after, "/")}`;
  }
}
