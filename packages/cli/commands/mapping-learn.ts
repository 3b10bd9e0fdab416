import { existsSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { webhookKinds } from "../../../domain/event/events.ts";
import { addOfflineCommand } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { oneLine } from "../core/printable.ts";
import type { Terminal } from "../core/terminal.ts";
import { readSampleFolder } from "../mapping/files.ts";
import { type Lesson, learn } from "../mapping/learn.ts";
import { lessonText, settingsOf, trialLine } from "../mapping/report.ts";
import { readSample } from "../mapping/sample.ts";
import { checkMapping, readSettings } from "../mapping/stage-mapping.ts";
import { tryMapping } from "../mapping/trial.ts";
import { parseKind } from "./mapping-try.ts";

type Flags = { readonly kind?: string; readonly write?: string };

export function addMappingLearn(group: Command): void {
  addOfflineCommand<Flags>(
    group,
    {
      name: "learn <folder>",
      summary:
        "Proposes the mapping for another provider from samples of its webhooks, and tries it on all of them.",
      asks: true,
      examples: [
        "npx income-events mapping learn samples    with folders users, accounts, endpoints, company-accounts",
        "npx income-events mapping learn samples --kind accounts    all of one kind",
        "npx income-events mapping learn samples --write stages/prod.json    into the settings of a stage",
      ],
    },
    learnFolder,
  )
    .option("--kind <kind>", `the samples are all of one of ${webhookKinds.join(", ")}`)
    .option("--write <file>", "puts the mapping into a file of settings; the rest of the file stays");
}

async function learnFolder(terminal: Terminal, flags: Flags, folder = ""): Promise<void> {
  const samples = readSampleFolder(folder, parseKind(flags.kind));
  const lessons = [...samples].map(([kind, list]) =>
    learn(
      kind,
      list.flatMap((sample) => {
        const read = readSample(sample);
        return "refused" in read ? [] : [read];
      }),
    ),
  );
  const settings = await merged(terminal, lessons, flags.write);
  const mapping = checkMapping(settings, flags.write ?? "what was learned");
  const trials = [...samples].flatMap(([kind, list]) =>
    list.map((sample) => ({
      sample: sample.name,
      ...tryMapping(kind, mapping[kind], sample, jmespathSearch),
    })),
  );
  if (flags.write !== undefined) writeFileSync(flags.write, `${JSON.stringify(settings, null, 2)}\n`);
  const failed = trials.filter((trial) => !trial.mapped);
  const summary = `${trials.length - failed.length} of ${trials.length} samples map.`;
  const lines = failed.map((trial) => `${oneLine(trial.sample)}: ${trialLine(trial)}`);
  terminal.result(
    { settings: settingsOf(lessons), lessons, trials },
    [lessonText(lessons), "", summary, ...lines].join("\n"),
  );
  if (failed.length > 0) throw new CommandError("failed", `${failed.length} samples do not map.`);
}

/** The settings of the file with what was learned in them. @throws CommandError unless a loss is confirmed */
async function merged(
  terminal: Terminal,
  lessons: readonly Lesson[],
  file: string | undefined,
): Promise<object> {
  const learned = settingsOf(lessons);
  if (file === undefined || !existsSync(file)) return learned;
  const settings = readSettings(file);
  const before: object = "mapping" in settings ? Object(settings.mapping) : {};
  const lost = Object.keys(learned.mapping).filter((kind) => Object.hasOwn(before, kind));
  if (lost.length > 0) await terminal.confirm(`This replaces the mapping of ${lost.join(", ")} in ${file}.`);
  return { ...settings, mapping: { ...before, ...learned.mapping } };
}
