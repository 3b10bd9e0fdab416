import type { Command } from "commander";
import { scanTable } from "../../../adapters/dynamodb/table-scan.ts";
import { isClean } from "../../../domain/event/json-text.ts";
import { nameOf } from "../../../domain/event/subjects.ts";
import { parseState, type State } from "../../../domain/state/state.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { agreeToScan } from "../core/scan-consent.ts";
import { tableText } from "../core/table.ts";

type Flags = { readonly attribute: string };

export function addTo(group: Command): void {
  addCommand<Flags>(group, {
    name: "find",
    summary:
      "Finds users by an attribute, such as your own number of a loan. It reads the whole table, and asks first where that costs.",
    asks: true,
    examples: ["npx income-events records find --attribute loanId=L-1001"],
    run: findRecords,
  }).requiredOption(
    "--attribute <name=value>",
    "the attribute's name in mapping.users.attributes, and its value",
  );
}

export async function findRecords(operation: Operation, { attribute }: Flags): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const [name, value] = attributeFlag(attribute);
  const onScanned = await agreeToScan(operation);
  const found: State[] = [];
  let read = 0;
  const wanted = { sortKeys: ["STATE"], attributes: ["state"] };
  for await (const { items, examined } of scanTable(
    clients.dynamodb,
    deployment.output("TableName"),
    wanted,
  )) {
    const states = items.map(({ state }) => parseState(state));
    found.push(...states.filter(({ attributes }) => attributes?.values[name] === value));
    read += examined;
    onScanned(read, found.length);
  }
  const users = found.toSorted((one, other) => (one.subject.id < other.subject.id ? -1 : 1));
  terminal.result(
    {
      stage: deployment.stage,
      users: users.map(({ subject: { id }, deleted }) => ({ id, deleted })),
    },
    users.length === 0
      ? `No user has the attribute ${name} with this value.`
      : tableText(
          ["SUBJECT", "DELETED"],
          users.map(({ subject, deleted }) => [nameOf(subject), deleted ? "yes" : "no"]),
        ),
  );
}

function attributeFlag(text: string): readonly [name: string, value: string] {
  const at = text.indexOf("=");
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || value === "" || !isClean(text))
    throw CommandError.usage("--attribute: write a name and a value, such as loanId=L-1001.");
  return [name, value];
}
