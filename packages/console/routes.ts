import { type DocumentFlags, getDocument } from "@income-events/cli/commands/documents.ts";
import {
  advanceSandbox,
  failSandbox,
  healSandbox,
  sandboxToken,
} from "@income-events/cli/commands/sandbox.ts";
import { setGivenToken } from "@income-events/cli/commands/token.ts";
import { triggerEvent } from "@income-events/cli/commands/trigger.ts";
import { CommandError } from "@income-events/cli/core/command-error.ts";
import { documentHistory } from "@income-events/cli/documents/document-history.ts";
import { documentVersions } from "../../adapters/dynamodb/document-versions.ts";
import { documentReader } from "../../adapters/dynamodb/documents.ts";
import { partitions } from "../../adapters/dynamodb/partitions.ts";
import { present } from "../../domain/core/parse.ts";
import { deadLetterRoutes } from "./api/dead-letters.ts";
import { eventRoutes } from "./api/events.ts";
import { mappingRoutes } from "./api/mapping.ts";
import { overviewRoutes } from "./api/overview.ts";
import { providerRoutes, subscriberRoutes } from "./api/provider.ts";
import { recordRoutes, subjectNamed } from "./api/records.ts";
import { createHistories } from "./history.ts";
import type { Jobs } from "./jobs.ts";
import {
  type Asked,
  type ConsoleContext,
  change,
  look,
  optionalTextIn,
  param,
  type Route,
  read,
  textIn,
} from "./route.ts";
import { type CommandOutcome, runCommand } from "./run-command.ts";

/** Documents and their stored versions. */
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

/** A version of a document, with its changes since the previous one. */
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

type Deed = (context: ConsoleContext, asked: Asked) => Promise<CommandOutcome>;

const deeds: Readonly<Record<string, Deed>> = {
  trigger: ({ operation }, asked) => {
    const [type, endpoint] = [textIn(asked, "type"), optionalTextIn(asked, "endpoint")];
    const args = endpoint === undefined ? [type] : [type, endpoint];
    return runCommand(operation, (each) => triggerEvent(each, {}, ...args));
  },
  fail: ({ operation }, asked) => {
    const seconds = optionalTextIn(asked, "for");
    const flags = seconds === undefined ? {} : { for: seconds };
    return runCommand(operation, (each) => failSandbox(each, flags, textIn(asked, "how")));
  },
  heal: ({ operation }) => runCommand(operation, healSandbox),
  advance: ({ operation }, asked) =>
    runCommand(operation, (each) => advanceSandbox(each, {}, textIn(asked, "time"))),
  token: async ({ operation }) => {
    const { token } = await runCommand(operation, sandboxToken);
    return runCommand(operation, (each) => setGivenToken(each, {}), { input: String(token) });
  },
};

export const sandboxRoutes: readonly Route[] = Object.entries(deeds).map(([name, deed]) =>
  change(`/api/sandbox/${name}`, (context, asked) => {
    if (context.operation.deployment.local === undefined)
      throw CommandError.usage("This is for systems on this machine: the provider of this stage is real.");
    return deed(context, asked);
  }),
);

/** Every address below `/api/` except the stream of changes. */
export function consoleRoutes(context: ConsoleContext, jobs: Jobs): readonly Route[] {
  return [
    ...overviewRoutes(context),
    ...eventRoutes(createHistories(context.now), jobs),
    ...deadLetterRoutes(jobs),
    ...recordRoutes(jobs),
    ...documentRoutes,
    ...providerRoutes,
    ...subscriberRoutes(jobs),
    ...mappingRoutes,
    ...sandboxRoutes,
  ];
}
