import type { Command } from "commander";
import type { Subject } from "../../../domain/event/subjects.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { choiceFlag } from "../core/flags.ts";
import { loadData, loadRecord, recordPorts } from "../records/record-lookup.ts";
import { recordData, recordText } from "../records/record-view.ts";

type Flags = { readonly data?: string; readonly reveal?: boolean };

const subjectKinds: readonly Subject["kind"][] = ["user", "account", "company-account"];

export function addTo(group: Command): void {
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
    .option("--reveal", "show the data unmasked; of all endpoints unless --data names one");
}

export async function showRecord(
  operation: Operation,
  { data: endpoint, reveal = false }: Flags,
  ...[kind, id]: readonly string[]
): Promise<void> {
  const { deployment, terminal } = operation;
  const subject = parseSubject(kind, id);
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

function parseSubject(kind: string | undefined, id = ""): Subject {
  const known = choiceFlag("<kind>", kind, subjectKinds);
  if (known === undefined || id === "")
    throw CommandError.usage("<id> is empty. Write it: npx income-events records show user ID");
  return { kind: known, id };
}
