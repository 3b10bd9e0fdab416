import type { Command } from "commander";
import { partitions } from "../../../adapters/dynamodb/event-table.ts";
import { type LegalHold, legalHolds } from "../../../adapters/dynamodb/legal-holds.ts";
import { readErasure } from "../../../adapters/erasure/tombstones.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { expiryOf } from "../../../domain/fetch/document.ts";
import { audited, digestFor } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { reasonFlag, subjectArgument } from "../core/flags.ts";
import { agreeToScan, scanFor } from "../core/scan-consent.ts";
import { tableText } from "../core/table.ts";
import { commandLine } from "../core/text.ts";
import { accountsOf, checkKnown } from "../records/known-records.ts";

type Flags = { readonly reason: string };

const user = "user 0f8fad5b-d9cb-469f-a165-70867728950e";

export function addTo(program: Command): void {
  const group = program
    .command("hold")
    .description("Sets and clears legal holds, which prevent expiry and erasure.");
  const add = (name: string, summary: string, reason: string, run: typeof set) =>
    addCommand<Flags>(group, {
      name: `${name} <kind> <id>`,
      summary,
      examples: [`npx income-events hold ${name} ${user} --reason "${reason}"`],
      run: (operation, flags, kind, id) => {
        const subject = subjectArgument(kind, id);
        return run(operation, subject, reasonFlag("--reason", flags.reason, subject));
      },
    }).requiredOption("--reason <text>", "reason for the audit trail, without ids");
  add(
    "set",
    "Puts a legal hold on a user with its accounts, an account or a company-account: document versions do not expire, and erasure is refused.",
    "case 17 of the legal department",
    set,
  );
  add(
    "clear",
    "Ends a legal hold. Document versions past their retention expire immediately.",
    "case 17 is closed",
    clear,
  );
  addCommand(group, {
    name: "list",
    summary: "Lists the legal holds. Reads the whole table.",
    asks: true,
    examples: ["npx income-events hold list", "npx income-events hold list --yes --json"],
    run: async (operation) => {
      const { deployment, clients, terminal } = operation;
      const table = deployment.output("TableName");
      const found = await scanFor(
        legalHolds(clients.dynamodb, table).list(),
        ({ holds }) => holds,
        await agreeToScan(operation),
      );
      terminal.result(
        { stage: deployment.stage, holds: found },
        tableText(
          ["SINCE", "ON", "REASON"],
          found.map(({ at, subject, reason }) => [at, nameOf(subject), reason]),
          "No legal holds.",
        ),
      );
    },
  });
}

function portsOf({ deployment, clients: { dynamodb } }: Operation) {
  const table = deployment.output("TableName");
  return { table, ofTable: partitions(dynamodb, table), holds: legalHolds(dynamodb, table) };
}

async function set(operation: Operation, subject: Subject, reason: string): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const { stage } = deployment;
  const { table, ofTable, holds } = portsOf(operation);
  await checkKnown(subject, operation);
  const act = { act: "hold", target: `set on ${subject.kind}`, reason, subject } as const;
  const hold: LegalHold = { at: new Date().toISOString(), reason };
  const versions = await audited(operation, act, async () => {
    const count = await holds.set(subject, hold, await accountsOf(subject, ofTable));
    // Checked last: a hold does not stop an erasure that is already running.
    if ((await readErasure(clients.dynamodb, table, await digestFor(operation, subject))) === undefined)
      return count;
    await holds.clear(subject, [], (at) => expiryOf(at, 0));
    throw CommandError.failed(
      `${nameOf(subject)} is being erased: it is too late for a hold. ${commandLine`Show what was erased: npx income-events erase status ${subject.id}`}`,
    );
  });
  terminal.result(
    { stage, subject, versions },
    `The ${subject.kind} ${subject.id} has a legal hold. Its ${versions} document versions do not expire, and neither do later ones.`,
  );
}

async function clear(operation: Operation, subject: Subject, reason: string): Promise<void> {
  const { deployment, terminal } = operation;
  const { stage } = deployment;
  const { ofTable, holds } = portsOf(operation);
  const days = Number(deployment.optionalOutput("DocumentVersionsDays") ?? 0);
  const act = { act: "hold", target: `cleared from ${subject.kind}`, reason, subject } as const;
  const versions = await audited(operation, act, async () => {
    const accounts = await accountsOf(subject, ofTable);
    const count = await holds.clear(subject, accounts, (at) => expiryOf(at, days));
    if (count === undefined)
      throw new CommandError(
        "nobody",
        `${nameOf(subject)} has no hold in the stage ${stage}. List the holds: npx income-events hold list`,
      );
    return count;
  });
  terminal.result(
    { stage, subject, versions },
    `The legal hold on the ${subject.kind} ${subject.id} has ended.${
      versions === 0 ? "" : ` Versions that expire ${days} days after they were superseded: ${versions}.`
    }`,
  );
}
