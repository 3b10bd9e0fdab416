import type { Command } from "commander";
import { scanDocuments } from "../../../adapters/dynamodb/document-scan.ts";
import { documentReader } from "../../../adapters/dynamodb/documents.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { present } from "../../../domain/core/parse.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { awaitInterruption } from "../core/interruption.ts";
import { agreeToScan } from "../core/scan-consent.ts";
import { type FilterFlags, filterFlags } from "../documents/document-filter.ts";
import { exportDocuments } from "../documents/export.ts";
import { type ExportQuery, type ExportState, openExport } from "../documents/export-directory.ts";

type Flags = FilterFlags & { readonly to?: string };

export function addTo(group: Command): void {
  addCommand<Flags>(group, {
    name: "export",
    summary:
      "Exports documents with their data to a directory, as gzip NDJSON with a schema. Reads the whole table, and asks first where that costs. Run it again to continue an interrupted export.",
    asks: true,
    examples: [
      "npx income-events documents export --endpoint income --since 2026-11-01 --to income-november",
      "npx income-events documents export --to everything --yes",
    ],
    run,
  })
    .option("--to <directory>", "a new directory, or that of an interrupted export")
    .option("--endpoint <name>", "only this endpoint, such as income")
    .option("--since <time>", "changed since: a date, a date-time, or a time ago (90m, 24h, 7d)")
    .option("--until <time>", "changed before");
}

async function run(operation: Operation, flags: Flags): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const { to, endpoint, since, until } = flags;
  if (to === undefined || to === "")
    throw CommandError.usage("--to is missing: name the directory that the documents go to.");
  filterFlags(flags, new Date());
  const table = deployment.output("TableName");
  const query = present<ExportQuery>({ table, endpoint, since, until });
  const directory = await openExport(to, query, new Date());
  const { begunAt, examined } = directory.state;
  const filter = filterFlags(flags, new Date(begunAt));
  terminal.progress(
    "Documents above 6 KB lie in S3: US$ 0.40 for a million of them. What leaves AWS costs US$ 0.09 a GB more.",
  );
  if (directory.isResumed)
    terminal.progress(`Continuing after ${examined} items; the price is that of the whole table.`);
  const onScanned = await agreeToScan(operation);
  using interruption = awaitInterruption();
  const ports = {
    scan: (after: Parameters<typeof scanDocuments>[2]) => scanDocuments(clients.dynamodb, table, after),
    readDocuments: documentReader(clients.dynamodb, table),
    overflow: overflowBucket(deployment.output("OverflowBucketName"), clients.s3),
    onScanned,
    onFile: (name: string, count: number) => terminal.progress(`Wrote ${name}: ${count} documents.`),
    signal: interruption.signal,
  };
  const before = directory.state.documents;
  const state = await audited(
    operation,
    { act: "reveal", target: endpoint === undefined ? "all documents" : `documents of ${endpoint}` },
    () => exportDocuments(directory, filter, ports),
    ({ documents }) => documents - before,
  );
  report(operation, to, state);
}

function report({ deployment, terminal }: Operation, directory: string, state: ExportState): void {
  const { query, begunAt, files, documents, unreadable, after } = state;
  const isComplete = after === undefined;
  const { table: _, ...asked } = query;
  terminal.result(
    { stage: deployment.stage, directory, ...asked, begunAt, documents, files, unreadable, isComplete },
    [
      `${directory} holds ${documents} documents in ${files.length} files; schema.json describes the rows.`,
      ...unreadable.map((name) => `${name}: its data are not where they were stored.`),
    ].join("\n"),
  );
  if (!isComplete) throw CommandError.failed("Interrupted. Run the same command again to continue.");
  if (unreadable.length > 0)
    throw CommandError.failed(
      "Some documents could not be read: see above. Fetch each again: npx income-events fetch account ID ENDPOINT",
    );
}
