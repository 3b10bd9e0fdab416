/**
 * Looks for known vulnerabilities of what is locked. `--help` lists the options.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { z } from "zod";
import { installedPackages, nameAt, readLockfile } from "../lockfile/lockfile.ts";
import { type Advisory, affects, type Installed, parseAdvisory } from "./advisory.ts";
import { askRegistry } from "./audit.ts";

const description = `Looks for known vulnerabilities of what is in package-lock.json.

Asks the registry (npm audit). Where that refuses, and without a network, it looks into the advisories that are kept in
this repository, which name their date and are few; or, with --database, into a folder of all: OSV's export for npm
(https://osv-vulnerabilities.storage.googleapis.com/npm/all.zip), unpacked.`;

const examples = `
Examples:
  npm run proof -- advisories
  npm run proof -- advisories --database osv-npm    offline, with all that OSV knew when it was fetched`;

const { database } = new Command("npm run proof -- advisories")
  .description(description)
  .option("--database <folder>", "advisories in OSV's format, a file of JSON each")
  .addHelpText("after", examples)
  .parse()
  .opts<{ readonly database?: string }>();

const installed = installedPackages(readLockfile().lock).flatMap(([path, { version }]): Installed[] =>
  version === undefined ? [] : [{ name: nameAt(path), version }],
);

process.exitCode = database === undefined ? await byRegistry() : byFolder(database);

async function byRegistry(): Promise<number> {
  const audit = await askRegistry();
  if (audit.answered) return report(audit.lines, `the registry, of ${installed.length} packages`);
  process.stdout.write(`The registry can't be asked: ${audit.why}\n`);
  const file = join(import.meta.dirname, "known.json");
  const known = z
    .object({ date: z.string(), advisories: z.array(z.unknown()) })
    .parse(JSON.parse(readFileSync(file, "utf8")));
  const { date, advisories } = known;
  return report(
    found(advisories.map(parseAdvisory)),
    `${advisories.length} advisories of ${date} that are kept here, which is no substitute for all: see --help`,
  );
}

function byFolder(folder: string): number {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const advisories = files.map((name) => parseAdvisory(JSON.parse(readFileSync(join(folder, name), "utf8"))));
  if (advisories.length === 0) {
    process.stderr.write(`${folder} has no advisory: unpack OSV's export there, see --help.\n`);
    return 2;
  }
  return report(found(advisories), `${advisories.length} advisories in ${folder}`);
}

function found(advisories: readonly Advisory[]): readonly string[] {
  return advisories.flatMap((advisory) =>
    installed
      .filter((one) => affects(advisory, one))
      .map(({ name, version }) => `${name} ${version}: ${advisory.id} ${advisory.summary}`),
  );
}

function report(lines: readonly string[], source: string): number {
  for (const line of lines) process.stderr.write(`${line}\n`);
  process.stdout.write(`advisories: ${lines.length} found, by ${source}\n`);
  return lines.length === 0 ? 0 : 1;
}
