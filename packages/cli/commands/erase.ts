import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { scanSubjects } from "../../../adapters/dynamodb/subject-reads.ts";
import { readErasedAt, readErasureLog } from "../../../adapters/erasure/erasure-log.ts";
import { subjectDigest } from "../../../adapters/erasure/find-erased.ts";
import { type ErasureReport, readErasure } from "../../../adapters/erasure/tombstones.ts";
import { present } from "../../../domain/core/parse.ts";
import { canonicalId, nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { addRemoved } from "../../../domain/recovery/erase-progress.ts";
import { eraseTask, type Removed } from "../../../domain/recovery/erasure.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { reasonFlag, subjectKinds } from "../core/flags.ts";
import { agreeToScan, scanFor } from "../core/scan-consent.ts";
import { tableText } from "../core/table.ts";
import { commandLine, counted } from "../core/text.ts";
import { eraseAgain, failWhileOpen, followErasures } from "../recovery/erasure.ts";

const kinds = {
  user: "Erases a user and its accounts: records, data and dead letters.",
  account: "Erases an account: records, data, dead letters, and its events among those of its user.",
  "company-account": "Erases a company account: records, data and dead letters.",
} as const;

type Flags = { readonly dryRun?: boolean; readonly despiteHold?: string };

export function addTo(program: Command): void {
  const group = program.command("erase").description("Erases users and accounts permanently.");
  for (const kind of subjectKinds) {
    addCommand<Flags>(group, {
      name: `${kind} <id>`,
      summary: kinds[kind],
      asks: true,
      examples: [
        `npx income-events erase ${kind} 0f8fad5b-d9cb-469f-a165-70867728950e`,
        `npx income-events erase ${kind} 0f8fad5b-d9cb-469f-a165-70867728950e --yes --json    for a program`,
      ],
      run: (operation, flags, id = "") => eraseSubject(operation, { kind, id: canonicalId(id) }, flags),
    })
      .option("--dry-run", "only show what would be erased")
      .option("--despite-hold <reason>", "erase despite a legal hold; the audit trail keeps the reason");
  }
  addCommand(group, {
    name: "status <id>",
    summary: "Shows whether and when a user, account or company account was erased, and what was found.",
    examples: [
      "npx income-events erase status 0f8fad5b-d9cb-469f-a165-70867728950e",
      "npx income-events erase status 0f8fad5b-d9cb-469f-a165-70867728950e --json    for a program",
    ],
    run: (operation, _, id = "") => status(operation, canonicalId(id)),
  });
  addCommand(group, {
    name: "apply-log",
    summary: "Repeats the logged erasures after a restore. Reads the whole table.",
    asks: true,
    examples: ["npx income-events erase apply-log", "npx income-events erase apply-log --yes --json"],
    run: applyLog,
  });
}

export async function eraseSubject(
  operation: Operation,
  subject: Subject,
  { dryRun: isDryRun = false, despiteHold }: Flags,
): Promise<void> {
  const reason = despiteHold === undefined ? undefined : reasonFlag("--despite-hold", despiteHold, subject);
  const { deployment, terminal } = operation;
  const { stage } = deployment;
  const isDespiteHold = reason === undefined ? undefined : (true as const);
  const follow = async (dryRun: boolean) => {
    const id = randomUUID();
    const task = { ...eraseTask(subject, "operator", [], id), id, isDryRun: dryRun };
    const [report] = await followErasures([{ ...task, ...present({ isDespiteHold }) }], operation);
    return { ...found(report, subject, stage), correlationId: id };
  };
  if (!isDryRun) await terminal.confirm(async () => consequences(subject, stage, await follow(true)));
  const act = { act: "erase", target: subject.kind, subject, ...present({ reason }) } as const;
  const { correlationId, ...report } = isDryRun
    ? await follow(true)
    : await audited(
        operation,
        act,
        () => follow(false),
        ({ subjects }) => subjects,
      );
  terminal.result({ stage, subject, ...report, correlationId }, reportText({ subject, ...report, isDryRun }));
  failWhileOpen([report]);
}

type Found = Pick<ErasureReport, "subjects" | "removed" | "incomplete" | "refused" | "isWaiting">;

/**
 * @throws CommandError if the subject was not found, so that an erasure is not confirmed for a mistyped id
 */
function found(report: ErasureReport | undefined, { kind, id }: Subject, stage: string): Found {
  if (report?.isHeld === true)
    throw new CommandError(
      "held",
      `A legal hold is on the ${kind} ${id} of the stage ${stage}, on one of its accounts or on its user: nothing was erased.\n` +
        `To erase despite the hold, add --despite-hold REASON. ${commandLine`To end the hold: npx income-events hold clear ${kind} ${id}`} --reason TEXT`,
    );
  const { subjects = 0, removed = {}, incomplete = [], refused = [], isWaiting } = report ?? {};
  if (report?.isFound === true || Object.keys(removed).length > 0)
    return { subjects, removed, incomplete, refused, ...present({ isWaiting }) };
  const unread =
    refused.length === 0 ? "" : `\nS3 refuses ${refused.join(" and ")}: allow their key, then run it again.`;
  throw new CommandError(
    "nobody",
    `${kind} ${id} not found in the stage ${stage}: nothing was erased, announced or logged.${unread} ${commandLine`Search the logs for the id: npx income-events logs ${id}`}`,
  );
}

function consequences({ kind, id }: Subject, stage: string, { removed }: Found): string {
  return (
    `This erases the ${kind} ${id} of the stage ${stage}${kind === "user" ? " with all its accounts" : ""}: records, data,\n` +
    "objects and dead letters. It can't be undone. Subscribers are notified. Later events about it are erased on arrival.\n" +
    countsText("to remove", removed)
  );
}

function countsText(title: string, removed: Removed, none = "There was nothing to remove."): string {
  return tableText([title, "count"], Object.entries(removed), none);
}

type Report = Found & { readonly subject: Subject; readonly isDryRun: boolean };

export function reportText({ subject, isDryRun, ...report }: Report): string {
  const { subjects, removed, incomplete, refused, isWaiting } = report;
  const { kind, id } = subject;
  const others = subjects - 1;
  const accounts = kind === "user" ? ` with ${counted(others, "account")}` : "";
  return [
    isDryRun
      ? `This would erase the ${kind} ${id}${accounts}. Nothing is erased.`
      : isWaiting === true
        ? `The erasure of the ${kind} ${id}${accounts} is not finished: S3 refuses ${refused.join(" and ")}.`
        : `The ${kind} ${id}${accounts} is erased. A second pass follows automatically, for records written in the meantime.`,
    countsText(isDryRun ? "to remove" : "removed", removed),
    ...(incomplete.length === 0
      ? []
      : [
          `The erasure is incomplete. Not checked: ${incomplete.join(", ")}. Redrive or purge dead letters that are too many ` +
            "or held by another reader. Then run the command again.",
        ]),
  ].join("\n");
}

type Kept = NonNullable<Awaited<ReturnType<typeof readErasure>>>;

/** An earlier erasure of this id; `found` is undefined if only the log has it. */
type Erased = { readonly subject: Subject; readonly erasedAt: string; readonly found?: Kept["found"] };

async function status(operation: Operation, id: string): Promise<void> {
  const { stage } = operation.deployment;
  const subjects = subjectKinds.map((kind) => ({ kind, id }));
  const erased = (await Promise.all(subjects.map((subject) => find(subject, operation)))).flat();
  if (erased.length === 0)
    throw new CommandError(
      "nobody",
      `No erasure of ${id} in the stage ${stage}. List all erasures: npx income-events audit list --act erase`,
    );
  operation.terminal.result({ stage, erased }, erased.map(describe).join("\n"));
}

async function find(subject: Subject, { deployment, clients }: Operation): Promise<readonly Erased[]> {
  const { output } = deployment;
  const digest = await subjectDigest(clients.secretsManager, output("ErasureKeyArn"))(subject);
  const kept = await readErasure(clients.dynamodb, output("TableName"), digest);
  if (kept !== undefined) return [{ subject, ...kept }];
  const erasedAt = await readErasedAt(clients.s3, output("ErasureLogBucketName"), digest);
  return erasedAt === undefined ? [] : [{ subject, erasedAt }];
}

function describe({ subject: { kind, id }, erasedAt, found }: Erased): string {
  const was = `The ${kind} ${id} was erased at ${erasedAt}.`;
  if (found === undefined) return `${was} The counts have expired.`;
  const removed = found.reduce<Removed>((sum, each) => addRemoved(sum, each.removed), {});
  const incomplete = [...new Set(found.flatMap((each) => each.incomplete))];
  const refused = [...new Set(found.flatMap((each) => (each.isFinished ? [] : each.refused)))];
  return [
    found.length > 0 && found.every(({ isFinished }) => isFinished)
      ? was
      : `${was} The erasure is not finished: a pass is still to come.`,
    countsText("removed, with what belongs to it", removed, "Nothing was found to remove."),
    ...(incomplete.length === 0 ? [] : [`The erasure is incomplete. Not checked: ${incomplete.join(", ")}.`]),
    ...(refused.length === 0 ? [] : [`S3 refuses ${refused.join(" and ")}: allow their key.`]),
  ].join("\n");
}

async function applyLog(operation: Operation): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const { stage } = deployment;
  const { dynamodb, s3, secretsManager } = clients;
  const table = deployment.output("TableName");
  const log = await readErasureLog(s3, deployment.output("ErasureLogBucketName"));
  terminal.progress(`Users and accounts in the log: ${log.size}.`);
  const onScanned = await agreeToScan(operation);
  const digestOf = subjectDigest(secretsManager, deployment.output("ErasureKeyArn"));
  // Subjects that are in the table although the log says that they were erased.
  const found = await scanFor(
    scanSubjects(dynamodb, table),
    async ({ subjects }) => {
      const digests = await Promise.all(subjects.map(digestOf));
      return subjects.filter((_, index) => log.has(digests[index] ?? ""));
    },
    onScanned,
  );
  const returned = [...new Map(found.map((subject) => [nameOf(subject), subject])).values()];
  if (returned.length > 0) {
    await terminal.confirm(
      `${returned.length} users and accounts of the stage ${stage} were erased, and are in the table again.\n` +
        "This erases them permanently, with all accounts of these users.",
    );
  }
  const erase = () => eraseAgain(operation, returned);
  const act = { act: "erase", target: "the log of erasures" } as const;
  const reports = returned.length === 0 ? [] : await audited(operation, act, erase, ({ length }) => length);
  const removed = reports.reduce<Removed>((sum, report) => addRemoved(sum, report.removed), {});
  const text =
    returned.length === 0
      ? `None of the ${log.size} erased users and accounts is in the table.`
      : `${returned.length} users and accounts are erased again.\n${countsText("removed", removed)}`;
  terminal.result({ stage, logged: log.size, erased: returned.length, removed }, text);
  failWhileOpen(reports);
}
