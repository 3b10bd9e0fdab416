import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { webhookKinds } from "../../../domain/event/events.ts";
import { addOfflineCommand } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { choiceFlag, collect } from "../core/flags.ts";
import { addStageFlags, readStageMapping, type StageFlags } from "../core/stage-settings.ts";
import type { Terminal } from "../core/terminal.ts";
import { commandLine } from "../core/text.ts";
import { parseHeaders, parseSample, plainSample, type Sample } from "../mapping/sample.ts";
import { trialLine, trialText, tryMapping } from "../mapping/trial.ts";

type Flags = StageFlags & { readonly kind?: string; readonly header?: readonly string[] };

/** API Gateway's limit, which is above Lambda's. */
const maxBytes = 10 * 1024 * 1024;

export function addTo(program: Command): void {
  const group = program.command("mapping").description("Tries the mapping of webhooks to events.");
  const command = addOfflineCommand<Flags>(group, {
    name: "try <file>",
    summary:
      "Shows the event that a webhook maps to, or why it does not. The file holds the body; a .http file holds headers, an empty line and the body.",
    examples: [
      "npx income-events mapping try webhook.json --kind accounts",
      "npx income-events mapping try webhook.http --stage prod    a file with headers, mapped by a stage's settings",
      "pbpaste | npx income-events mapping try - --header 'ce-type: linked'    from the standard input",
    ],
    run: async (terminal, flags, file = "") => {
      const chosen = choiceFlag("--kind", flags.kind, webhookKinds);
      const mapping = readStageMapping(flags.stage, flags.settings);
      const sample = await readSample(terminal, file, flags.header ?? []);
      const trials = (chosen === undefined ? webhookKinds : [chosen]).map((kind) =>
        tryMapping(kind, mapping[kind], sample, jmespathSearch),
      );
      const mapped = trials.filter((trial) => trial.mapped);
      const detailed = chosen === undefined ? mapped : trials;
      const brief = trials.filter((trial) => !detailed.includes(trial));
      terminal.result({ trials }, [...detailed.map(trialText), ...brief.map(trialLine)].join("\n\n"));
      if (mapped.length > 0) return;
      throw CommandError.failed(
        `${chosen === undefined ? "No kind maps it" : `${chosen} does not map it`}. Correct the mapping, then run: ${commandLine`npx income-events mapping try ${file}`}`,
      );
    },
  }).option("--kind <kind>", `one of ${webhookKinds.join(", ")}; default: all`);
  addStageFlags(command, "the stage whose settings to use", "dev").option(
    "--header <line>",
    'a header of the webhook as "name: value"; repeatable',
    collect,
  );
}

async function readSample(terminal: Terminal, file: string, lines: readonly string[]): Promise<Sample> {
  const read =
    file === "-"
      ? parseSample("the standard input", Buffer.from(await terminal.readInput(maxBytes)))
      : parseSample(file, contentOf(file));
  return plainSample({ ...read, headers: { ...read.headers, ...parseHeaders(lines, "--header") } }, maxBytes);
}

/** @throws CommandError if the file can't be read */
function contentOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw CommandError.usage(`${file} can't be read: ${reason}.`);
  }
}
