import { type LogCode, logCodes, logLevels } from "../../functions/runtime/log.ts";
import { originsOfCodes } from "./log-origins.ts";
import { remedies } from "./log-remedies.ts";
import { table } from "./markdown.ts";

const levels: Partial<Record<string, string>> = logLevels;
const codes = Object.keys(logCodes).filter((code): code is LogCode => Object.hasOwn(logCodes, code));

/** The codes that ask for something, with what to do. */
export function loudTable(level: "ERROR" | "WARN"): string {
  const isLoud = (code: LogCode): code is keyof typeof remedies => levels[code] === level;
  const rows = codes.filter(isLoud).map((code) => [...rowOf(code), remedies[code]]);
  return table(["code", "means", "logged by", "what to do"], rows);
}

/** The codes of the level INFO. */
export function codesTable(): string {
  return table(["code", "means", "logged by"], codes.filter((code) => levels[code] === undefined).map(rowOf));
}

function rowOf(code: LogCode): readonly string[] {
  const names = originsOfCodes().get(code) ?? [];
  return [`\`${code}\``, logCodes[code], names.map((name) => `\`${name}\``).join(", ")];
}
