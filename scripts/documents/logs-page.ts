import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type LogCode, logCodes, logLevels } from "../../functions/runtime/log.ts";
import { remedies } from "./log-remedies.ts";
import { table } from "./markdown.ts";

const levels: Partial<Record<string, string>> = logLevels;
const codes = Object.keys(logCodes).filter((code): code is LogCode => Object.hasOwn(logCodes, code));

/** Table of ERROR or WARN codes with their remedies. */
export function loudTable(level: "ERROR" | "WARN"): string {
  const isLoud = (code: LogCode): code is keyof typeof remedies => levels[code] === level;
  const rows = codes.filter(isLoud).map((code) => [...rowOf(code), remedies[code]]);
  return table(["code", "means", "logged by", "what to do"], rows);
}

/** Table of the INFO codes. */
export function codesTable(): string {
  return table(["code", "means", "logged by"], codes.filter((code) => levels[code] === undefined).map(rowOf));
}

function rowOf(code: LogCode): readonly string[] {
  const names = originsOfCodes().get(code) ?? [];
  return [`\`${code}\``, logCodes[code], names.map((name) => `\`${name}\``).join(", ")];
}

const repository = join(import.meta.dirname, "../..");
const isCode = (text: string): text is LogCode => Object.hasOwn(logCodes, text);

/** Functions by log code: their entry files, or files that these import, name it. */
export function originsOfCodes(): ReadonlyMap<LogCode, readonly string[]> {
  const entries = globSync("functions/*/*.ts", { cwd: repository })
    .filter((file) => readFileSync(join(repository, file), "utf8").includes("export const handler"))
    .sort();
  const origins = new Map<LogCode, string[]>();
  for (const entry of entries) {
    for (const code of codesOf(entry)) {
      origins.set(code, [...(origins.get(code) ?? []), nameOf(entry)]);
    }
  }
  return origins;
}

function codesOf(entry: string): ReadonlySet<LogCode> {
  const texts = [...filesOf(entry)].flatMap((file) => [
    ...readFileSync(join(repository, file), "utf8").matchAll(/"([A-Z]+(?:_[A-Z]+)*)"/g),
  ]);
  return new Set(texts.map(([, text = ""]) => text).filter(isCode));
}

/** A file with everything that it imports, except types. */
function filesOf(file: string, found: Set<string> = new Set()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(join(repository, file), "utf8");
  for (const [, path = ""] of text.matchAll(/^import (?!type )[^;]*?"(\.[^"]+)";$/gm)) {
    filesOf(join(dirname(file), path), found);
  }
  return found;
}

/** Name of an entry file's function in log lines, or the pattern of the names if it has one for each kind. */
function nameOf(entry: string): string {
  const name = entry.replace(/^functions\/|\.ts$/g, "");
  return ["receive/webhooks", "store/events"].includes(name) ? `${dirname(name)}/*` : name;
}
