import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { serviceClock } from "../../../adapters/aws/client.ts";
import type { StoredDocument } from "../../../adapters/dynamodb/documents.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { FailureError } from "../../../domain/core/failures.ts";
import { present } from "../../../domain/core/parse.ts";
import { endpointName } from "../../../domain/event/events.ts";
import { canonicalId, nameOf, type Subject } from "../../../domain/event/subjects.ts";
import type { DataName } from "../../../domain/fetch/document.ts";
import { deduplicationOf, documentTask, groupOf, writeTask } from "../../../domain/fetch/task.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { withoutDocument } from "../core/flags.ts";
import { commandLine, counted } from "../core/text.ts";
import { loadRecord, recordPorts } from "../records/record-lookup.ts";
import { workQueue } from "../status/work-queues.ts";

const whose = { account: "an account's", "company-account": "a company account's" } as const;

export function addTo(program: Command): void {
  const group = program.command("fetch").description("Fetches documents again.");
  for (const kind of ["account", "company-account"] as const) {
    addCommand(group, {
      name: `${kind} <id> [endpoint]`,
      summary: `Fetches ${whose[kind]} documents again: all stored ones, or those of one endpoint.`,
      examples: [
        `npx income-events fetch ${kind} 9c858901-8a57-4791-81fe-4c455b099bc9`,
        `npx income-events fetch ${kind} 9c858901-8a57-4791-81fe-4c455b099bc9 income    also an endpoint that was not fetched before`,
      ],
      run: (operation, _, id = "", endpoint) =>
        fetchAgain(operation, { kind, id: canonicalId(id) }, endpoint),
    });
  }
}

async function fetchAgain(
  operation: Operation,
  subject: Subject,
  endpoint: string | undefined,
): Promise<void> {
  if (endpoint !== undefined && !endpointName.test(endpoint))
    throw CommandError.usage(`[endpoint] ${JSON.stringify(endpoint)} is not the name of an endpoint.`);
  const { deployment, clients, terminal } = operation;
  // A document that was read after the task's time is not read again, so the time must be DynamoDB's.
  const clock = serviceClock(clients.dynamodb);
  const { state, documents } = await loadRecord(subject, recordPorts(operation));
  const names = namesOf(documents, endpoint);
  if (names.length === 0) throw withoutDocument(subject);
  const id = randomUUID();
  const cause = { cause: `operator.${id}`, correlationId: id, ...present({ userId: state?.userId }) };
  const tasks = names.map((name) => documentTask(subject, name, clock(), cause));
  const failures = await sqsSender(clients.sqs)(
    workQueue(deployment, "fetch").queueUrl,
    tasks.map((task) => ({
      body: writeTask(task),
      group: groupOf(task),
      deduplication: deduplicationOf(task),
    })),
  );
  const failed = failures.find((failure) => failure !== undefined);
  if (failed !== undefined) throw new FailureError(failed);
  const endpoints = [...new Set(names.map((name) => name.endpoint))];
  terminal.result(
    { stage: deployment.stage, subject, endpoints, documents: tasks.length, correlationId: id },
    `Requested ${counted(tasks.length, "document")} of ${nameOf(subject)}: ${endpoints.join(", ")}. They are fetched within the provider's rate limit.\n` +
      commandLine`Follow what happens: npx income-events logs ${id}`,
  );
}

/** The stored documents' names; for an endpoint without any, the name without dates. */
function namesOf(documents: readonly StoredDocument[], endpoint: string | undefined): readonly DataName[] {
  const known = documents
    .map(({ document }) => ({ endpoint: document.endpoint, ...present({ range: document.range }) }))
    .filter((name) => endpoint === undefined || name.endpoint === endpoint);
  return endpoint === undefined || known.length > 0 ? known : [{ endpoint }];
}
