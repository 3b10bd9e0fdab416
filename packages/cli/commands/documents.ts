import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { textOfContent } from "../../../adapters/dynamodb/documents.ts";
import { present } from "../../../domain/core/parse.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { type DataName, rangeOf } from "../../../domain/fetch/document.ts";
import { parseVersion, type VersionWanted } from "../../../domain/read/route.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import {
  countFlag,
  type SubjectFlags,
  subjectArgument,
  subjectFlag,
  type TextFlags,
  timestampFlag,
} from "../core/flags.ts";
import { awaitInterruption } from "../core/interruption.ts";
import { agreeToScan } from "../core/scan-consent.ts";
import { shownJson } from "../core/shown-json.ts";
import { counted, printableJson } from "../core/text.ts";
import {
  bytesOf,
  changesBetween,
  changesText,
  findDocument,
  versionBefore,
} from "../documents/document-get.ts";
import {
  type DocumentQuery,
  describeDocument,
  documentPorts,
  documentsText,
  type FilterFlags,
  filterFlags,
  listDocuments,
} from "../documents/document-list.ts";
import { type ExportQuery, type ExportState, exportDocuments, openExport } from "../documents/export.ts";

type Flags = SubjectFlags & FilterFlags & { readonly limit: string };

export function addTo(program: Command): void {
  const group = program.command("documents").description("Lists, shows and exports the provider's data.");
  addCommand<Flags>(group, {
    name: "list",
    summary:
      "Lists documents without their data, latest change first. For one user or account it also lists the retained versions; otherwise it reads the whole table, and asks first if that costs money.",
    asks: true,
    subject: ["only this", " and its accounts"],
    examples: [
      "npx income-events documents list --account 9c858901-8a57-4791-81fe-4c455b099bc9",
      "npx income-events documents list --endpoint income --since 24h    income that changed in the last day",
    ],
    run: list,
  })
    .option("--endpoint <name>", "only this endpoint, such as income")
    .option("--since <time>", "changed since: a date, a date-time, or a time ago (90m, 24h, 7d)")
    .option("--until <time>", "changed before")
    .option("--limit <count>", "maximum number", "50");
  addCommand<DocumentFlags>(group, {
    name: "get <kind> <id> <endpoint>",
    summary:
      "Shows a document of an account or company-account, masked; or writes it to a file, byte for byte.",
    examples: [
      "npx income-events documents get account 9c858901-8a57-4791-81fe-4c455b099bc9 income    masked: names and types, no values",
      "npx income-events documents get account 9c858901-8a57-4791-81fe-4c455b099bc9 income --to income.json    unmasked, byte for byte",
      "npx income-events documents get account 9c858901-8a57-4791-81fe-4c455b099bc9 income --dates 2026-01-01..2026-01-31 --reveal --json",
      "npx income-events documents get account 9c858901-8a57-4791-81fe-4c455b099bc9 income --as-of 2026-10-01    the version of that day",
      "npx income-events documents get account 9c858901-8a57-4791-81fe-4c455b099bc9 income --changes    changes from the previous version",
    ],
    run: getDocument,
  })
    .option("--dates <first..last>", "range of dates, as documents list shows it")
    .option("--of-version <number>", "version named by a message: the newest, or a retained one")
    .option(
      "--as-of <time>",
      "version at this time, if versions are retained: a date, a date-time, or a time ago (90d)",
    )
    .option("--changes", "also show the changes from the previous version, if versions are retained")
    .option("--reveal", "show the document unmasked, with personal data")
    .option("--to <file>", "write the document to a new file, with personal data");
  addCommand<ExportFlags>(group, {
    name: "export",
    summary:
      "Exports documents with their data to a directory, as gzip NDJSON with a schema. Reads the whole table, and asks first if that costs money. Run it again to continue an interrupted export.",
    asks: true,
    examples: [
      "npx income-events documents export --endpoint income --since 2026-11-01 --to income-november",
      "npx income-events documents export --to everything --yes",
    ],
    run: exportAll,
  })
    .option("--to <directory>", "a new directory, or that of an interrupted export")
    .option("--endpoint <name>", "only this endpoint, such as income")
    .option("--since <time>", "changed since: a date, a date-time, or a time ago (90m, 24h, 7d)")
    .option("--until <time>", "changed before");
}

async function list(operation: Operation, flags: Flags): Promise<void> {
  const { deployment, terminal } = operation;
  const query = present<DocumentQuery>({
    subject: subjectFlag(flags),
    filter: filterFlags(flags, new Date()),
    limit: countFlag("--limit", flags.limit),
  });
  const onScanned = query.subject === undefined ? await agreeToScan(operation) : undefined;
  const documents = await listDocuments(
    query,
    documentPorts(operation, () => new Date()),
    onScanned,
  );
  const url = deployment.output("DocumentsUrl");
  terminal.result(
    { stage: deployment.stage, documents: documents.map((each) => describeDocument(each, url)) },
    documentsText(documents),
  );
}

export type DocumentFlags = TextFlags<"dates" | "ofVersion" | "asOf" | "to"> & {
  readonly reveal?: boolean;
  readonly changes?: boolean;
};

const kinds = ["account", "company-account"] as const;

export async function getDocument(
  operation: Operation,
  flags: DocumentFlags,
  ...args: readonly string[]
): Promise<void> {
  const { deployment, terminal } = operation;
  const [subject, name] = parseWanted(args, flags.dates);
  const now = new Date();
  const wanted = versionIn(flags, now);
  const ports = documentPorts(operation, () => now);
  const { to, reveal = to !== undefined, changes: isComparing = false } = flags;
  if (isComparing && to !== undefined) throw CommandError.usage("--to and --changes: write one of them.");
  const stored = await findDocument(subject, name, wanted, ports);
  const read = () => bytesOf(stored, ports);
  const act = { act: "reveal", target: `document of ${subject.kind}`, subject } as const;
  const bytes = reveal
    ? await audited(operation, act, () => (to === undefined ? read() : writeNew(to, read)), 1)
    : await read();
  const described = {
    stage: deployment.stage,
    document: describeDocument(stored, deployment.output("DocumentsUrl")),
  };
  if (to !== undefined) {
    terminal.result({ ...described, file: to }, `Wrote ${bytes.byteLength} bytes to ${to}.`);
    return;
  }
  const ids = [subject.id, stored.document.userId];
  const showing = { reveal, ids };
  const text = textOfContent([bytes], stored.document.contentType);
  const data = shownJson(text, showing);
  if (!isComparing) {
    terminal.result({ ...described, data }, printableJson(data, 2));
    return;
  }
  const earlier = await versionBefore(stored, ports.versions);
  const textBefore = earlier && textOfContent([await bytesOf(earlier, ports)], earlier.document.contentType);
  const changes =
    earlier === undefined || textBefore === undefined
      ? null
      : changesBetween(earlier, [textBefore, text], showing);
  terminal.result({ ...described, data, changes }, `${printableJson(data, 2)}\n\n${changesText(changes)}`);
}

function parseWanted([kind, id = "", endpoint = ""]: readonly string[], dates?: string): [Subject, DataName] {
  const subject = subjectArgument(kind, id, kinds);
  if (endpoint === "") throw CommandError.usage("<endpoint> is empty. Write for example income.");
  const [dateStart, dateEnd] = dates?.split("..") ?? [];
  const range = rangeOf({ ...(dateStart && { dateStart }), ...(dateEnd && { dateEnd }) });
  if (dates !== undefined && range === undefined)
    throw CommandError.usage(`--dates ${JSON.stringify(dates)}: write 2026-01-01..2026-01-31.`);
  return [subject, range === undefined ? { endpoint } : { endpoint, range }];
}

function versionIn({ ofVersion, asOf }: DocumentFlags, now: Date): VersionWanted {
  if (ofVersion !== undefined && asOf !== undefined)
    throw CommandError.usage("--of-version and --as-of: write one of them.");
  if (ofVersion !== undefined) {
    const version = parseVersion(ofVersion);
    if (version !== undefined) return { version };
    const reason = "is not a version. Write the digits that documents list shows under VERSION.";
    throw CommandError.usage(`--of-version ${JSON.stringify(ofVersion)} ${reason}`);
  }
  const time = timestampFlag("--as-of", asOf, now);
  return time === undefined ? {} : { asOf: Date.parse(time) };
}

/** Writes a file, and fails if it exists. */
async function writeNew(path: string, read: () => Promise<Uint8Array>): Promise<Uint8Array> {
  const bytes = await read();
  try {
    await writeFile(path, bytes, { flag: "wx", mode: 0o600 });
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw CommandError.usage(`--to ${path} can't be written (${reason}): name a new file.`);
  }
  return bytes;
}

type ExportFlags = FilterFlags & { readonly to?: string };

async function exportAll(operation: Operation, flags: ExportFlags): Promise<void> {
  const { deployment, terminal } = operation;
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
    "Documents above 6 KB are in S3: US$ 0.40 per million. Data that leaves AWS costs another US$ 0.09 per GB.",
  );
  if (directory.isResumed)
    terminal.progress(`Continuing after ${examined} items; the price is that of the whole table.`);
  const onScanned = await agreeToScan(operation);
  using interruption = awaitInterruption();
  const ports = {
    ...documentPorts(operation, () => new Date()),
    onScanned,
    onFile: (name: string, count: number) =>
      terminal.progress(`Wrote ${name}: ${counted(count, "document")}.`),
    signal: interruption.signal,
  };
  const before = directory.state.documents;
  const state = await audited(
    operation,
    { act: "reveal", target: endpoint === undefined ? "all documents" : `documents of ${endpoint}` },
    () => exportDocuments(directory, filter, ports),
    ({ documents }) => documents - before,
  );
  reportExport(operation, to, state);
}

function reportExport({ deployment, terminal }: Operation, directory: string, state: ExportState): void {
  const { query, begunAt, files, documents, unreadable, after } = state;
  const isComplete = after === undefined;
  const { table: _, ...asked } = query;
  terminal.result(
    { stage: deployment.stage, directory, ...asked, begunAt, documents, files, unreadable, isComplete },
    [
      `${directory} holds ${counted(documents, "document")} in ${counted(files.length, "file")}; schema.json describes the rows.`,
      ...unreadable.map((name) => `${name}: its data are not where they were stored.`),
    ].join("\n"),
  );
  if (!isComplete) throw CommandError.failed("Interrupted. Run the same command again to continue.");
  if (unreadable.length > 0)
    throw CommandError.failed(
      "Some documents could not be read: see above. Fetch each again: npx income-events fetch account ID ENDPOINT",
    );
}
