import type { Command } from "commander";
import { scanDocuments } from "../../../adapters/dynamodb/document-scan.ts";
import { documentVersions } from "../../../adapters/dynamodb/document-versions.ts";
import { documentReader } from "../../../adapters/dynamodb/documents.ts";
import { partitions } from "../../../adapters/dynamodb/partitions.ts";
import { present } from "../../../domain/core/parse.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { countFlag, type SubjectFlags, subjectFlag } from "../core/flags.ts";
import { agreeToScan } from "../core/scan-consent.ts";
import { type FilterFlags, filterFlags } from "../documents/document-filter.ts";
import {
  type DocumentQuery,
  describeDocument,
  documentsText,
  listDocuments,
} from "../documents/document-list.ts";

type Flags = SubjectFlags & FilterFlags & { readonly limit: string };

export function addTo(group: Command): void {
  addCommand<Flags>(group, {
    name: "list",
    summary:
      "Lists the documents that there are, those that changed last first, without what is in them. Of one user or account it is a query, which lists the versions as well that the stage keeps; else the whole table is read, and what that costs is said before.",
    asks: true,
    examples: [
      "npx income-events documents list --account 9c858901-8a57-4791-81fe-4c455b099bc9",
      "npx income-events documents list --endpoint income --since 24h    whose income changed in a day",
    ],
    run: list,
  })
    .option("--user <id>", "those of a user's accounts")
    .option("--account <id>", "those of an account")
    .option("--company-account <id>", "those of a company account")
    .option("--endpoint <name>", "those of one endpoint, such as income")
    .option("--since <time>", "those that changed since: a date, a date-time, or how long ago (90m, 24h, 7d)")
    .option("--until <time>", "those that changed before")
    .option("--limit <count>", "at most so many", "50");
}

async function list(operation: Operation, flags: Flags): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const query = present<DocumentQuery>({
    subject: subjectFlag(flags),
    filter: filterFlags(flags, new Date()),
    limit: countFlag("--limit", flags.limit),
  });
  const table = deployment.output("TableName");
  const { dynamodb } = clients;
  const documents = await listDocuments(query, {
    partitions: partitions(dynamodb, table),
    readDocuments: documentReader(dynamodb, table),
    versions: documentVersions(dynamodb, table, () => new Date()),
    scan: () => scanDocuments(dynamodb, table),
    onScanned: query.subject === undefined ? await agreeToScan(operation) : () => undefined,
  });
  const url = deployment.output("DocumentsUrl");
  terminal.result(
    { stage: deployment.stage, documents: documents.map((each) => describeDocument(each, url)) },
    documentsText(documents),
  );
}
