import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { basename, dirname, join } from "node:path";
import { fieldsOf, textOf } from "../../domain/core/parse.ts";
import { commandOf } from "../catalogue.ts";

/** The last run of a suite: what was typed, when, on which machine, and its last line. */
export type Counts = {
  readonly suite: string;
  readonly command: string;
  readonly date: string;
  readonly machine: string;
  readonly line: string;
};

const root = join(import.meta.dirname, "../..");
const page = "docs/evidence/promises.md";
const directory = "docs/evidence/promises";

/**
 * Writes down the last line of a suite's run, for docs/evidence/promises.md: `npm run docs` puts it there.
 * @param suite its name, for example `chaos`: each has a file of its own
 * @param command as it was typed
 */
export function recordCounts(suite: string, command: string, line: string, to = root): void {
  const counts: Omit<Counts, "suite"> = {
    command,
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores, ${cpus()[0]?.model ?? process.arch}`,
    line,
  };
  const file = join(to, directory, `${suite}.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(counts, null, 2)}\n`);
}

/** What was typed to run a proof, but for the wish to write it down. */
export function typedCommand(proof: string, words: readonly string[] = process.argv.slice(2)): string {
  const kept = words.filter((word) => word !== "--record");
  return [commandOf(proof), ...kept].join(" ").replace(/ --$/, "");
}

/** The page of promises, with the counts as they were written down last. */
export function promisesPage(): string {
  const file = join(root, page);
  return existsSync(file) ? withCounts(readFileSync(file, "utf8"), readCounts(root)) : "";
}

/** What was written down below a directory, by suite. */
export function readCounts(from: string): readonly Counts[] {
  return globSync(`${directory}/*.json`, { cwd: from })
    .sort()
    .map((file) => {
      const fields = fieldsOf(JSON.parse(readFileSync(join(from, file), "utf8")), file);
      return {
        suite: basename(file, ".json"),
        command: textOf(fields, "command"),
        date: textOf(fields, "date"),
        machine: textOf(fields, "machine"),
        line: textOf(fields, "line"),
      };
    });
}

const [begin, end] = ["<!-- counts: written by npm run docs -->", "<!-- end of counts -->"];

/** Puts counts into a page, between its marks. @throws where it has none */
export function withCounts(text: string, counts: readonly Counts[]): string {
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${page}: misses ${begin} or ${end}`);
  const rows = counts.map(
    ({ command, date, machine, line }) => `| \`${command}\` | \`${line}\` | ${date}, ${machine} |`,
  );
  const table = ["| command | last line | when and where |", "|---|---|---|", ...rows].join("\n");
  return [before, begin, "\n\n", table, "\n\n", end, after].join("");
}
