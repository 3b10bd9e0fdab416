import type { Command } from "commander";
import { scanTable } from "../../../adapters/dynamodb/table-scan.ts";
import type { Attributes } from "../../../domain/event/events.ts";
import { isClean } from "../../../domain/event/json.ts";
import { nameOf } from "../../../domain/event/subjects.ts";
import { parseState, type State } from "../../../domain/state/state.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation, type Place } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { subjectArgument } from "../core/flags.ts";
import { agreeToScan, type OnScanned, scanFor } from "../core/scan-consent.ts";
import { tableText } from "../core/table.ts";
import { loadData, loadRecord, recordPorts } from "../records/record-lookup.ts";
import { recordData, recordText } from "../records/record-view.ts";

type Flags = { readonly data?: string; readonly reveal?: boolean };

export function addTo(program: Command): void {
  const group = program.command("records").description("Shows users and accounts.");
  addCommand<Flags>(group, {
    name: "show <kind> <id>",
    summary: "Shows a user, account or company-account: state, accounts, documents, and the data, masked.",
    examples: [
      "npx income-events records show user 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
      "npx income-events records show account 9c858901-8a57-4791-81fe-4c455b099bc9 --data income    masked: names and types, no values",
      "npx income-events records show account 9c858901-8a57-4791-81fe-4c455b099bc9 --data income --reveal --json",
    ],
    run: showRecord,
  })
    .option("--data <endpoint>", "also show the data of this endpoint, masked unless --reveal is given")
    .option("--reveal", "show attributes and data unmasked; data of all endpoints unless --data names one");
  addCommand<FindFlags>(group, {
    name: "find",
    summary:
      "Finds users by an attribute, such as your loan number. Reads the whole table, and asks first if that costs money.",
    asks: true,
    examples: ["npx income-events records find --attribute loanId=L-1001"],
    run: findRecords,
  }).requiredOption(
    "--attribute <name=value>",
    "the attribute's name in mapping.users.attributes, and its value",
  );
}

export async function showRecord(
  operation: Operation,
  { data: endpoint, reveal = false }: Flags,
  ...[kind, id]: readonly string[]
): Promise<void> {
  const { deployment, terminal } = operation;
  const subject = subjectArgument(kind, id);
  const ports = recordPorts(operation);
  const record = await loadRecord(subject, ports);
  const isDataWanted = reveal || endpoint !== undefined;
  const load = () => loadData(record, endpoint, reveal, ports);
  const act = { act: "reveal", target: `data of ${subject.kind}`, subject } as const;
  const data = reveal
    ? await audited(operation, act, load, ({ length }) => length)
    : isDataWanted
      ? await load()
      : [];
  terminal.result(
    { stage: deployment.stage, ...recordData(record, reveal), ...(isDataWanted && { data }) },
    recordText(record, data, reveal),
  );
}

type FindFlags = { readonly attribute: string };

export async function findRecords(operation: Operation, { attribute }: FindFlags): Promise<void> {
  const { deployment, terminal } = operation;
  const [name, value] = attributeFlag(attribute);
  const onScanned = await agreeToScan(operation);
  const users = await scanUsers(operation, (attributes) => attributes[name] === value, onScanned);
  terminal.result(
    { stage: deployment.stage, users: users.map(({ subject: { id }, deleted }) => ({ id, deleted })) },
    tableText(
      ["SUBJECT", "DELETED"],
      users.map(({ subject, deleted }) => [nameOf(subject), deleted ? "yes" : "no"]),
      `No user has the attribute ${name} with this value.`,
    ),
  );
}

/** The states of users whose attributes match, ordered by id. Reads the whole table. */
export async function scanUsers(
  { deployment, clients }: Place,
  isMatch: (attributes: Attributes) => boolean,
  onScanned: OnScanned = () => undefined,
): Promise<readonly State[]> {
  const wanted = { sortKeys: ["STATE"], attributes: ["state"] };
  const found = await scanFor(
    scanTable(clients.dynamodb, deployment.output("TableName"), wanted),
    ({ items }) => {
      const states = items.map(({ state }) => parseState(state));
      return states.filter(({ attributes }) => attributes !== undefined && isMatch(attributes.values));
    },
    onScanned,
  );
  return found.toSorted((one, other) => (one.subject.id < other.subject.id ? -1 : 1));
}

function attributeFlag(text: string): readonly [name: string, value: string] {
  const at = text.indexOf("=");
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || value === "" || !isClean(text))
    throw CommandError.usage("--attribute: write a name and a value, such as loanId=L-1001.");
  return [name, value];
}
