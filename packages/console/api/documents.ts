import { type DocumentFlags, getDocument } from "@income-events/cli/commands/documents.ts";
import { documentHistory } from "@income-events/cli/documents/document-history.ts";
import { documentVersions } from "../../../adapters/dynamodb/document-versions.ts";
import { documentReader } from "../../../adapters/dynamodb/documents.ts";
import { partitions } from "../../../adapters/dynamodb/partitions.ts";
import { present } from "../../../domain/core/parse.ts";
import { type ConsoleContext, look, optionalTextIn, param, type Route, read, textIn } from "../route.ts";
import { type CommandOutcome, runCommand } from "../run-command.ts";
import { subjectNamed } from "./records.ts";

/** Documents, and the versions of them that are kept. */
export const documentRoutes: readonly Route[] = [
  read("/api/documents", async ({ operation: { deployment, clients }, now }, asked) => {
    const [{ dynamodb }, table] = [clients, deployment.output("TableName")];
    const documents = await documentHistory(subjectNamed(param(asked, "kind"), param(asked, "id")), {
      partitions: partitions(dynamodb, table),
      readDocuments: documentReader(dynamodb, table),
      versions: documentVersions(dynamodb, table, now),
    });
    return { documents };
  }),
  read("/api/document", (context, asked) => document(context, (name) => param(asked, name), false)),
  look("/api/document/reveal", (context, asked) =>
    document(
      context,
      (name) => (name === "endpoint" ? textIn(asked, name) : optionalTextIn(asked, name)),
      true,
    ),
  ),
];

/** One version of a document, with what changed against the one before it. */
function document(
  { operation }: ConsoleContext,
  asked: (name: string) => string | undefined,
  reveal: boolean,
): Promise<CommandOutcome> {
  const flags = present<DocumentFlags>({
    dates: asked("dates"),
    ofVersion: asked("version"),
    reveal,
    changes: true,
  });
  const { kind, id } = subjectNamed(asked("kind"), asked("id"));
  return runCommand(operation, (each) => getDocument(each, flags, kind, id, asked("endpoint") ?? ""));
}
