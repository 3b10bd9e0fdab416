import type { Terminal } from "../core/terminal.ts";
import type { Cause } from "./causes.ts";
import type { Diagnosis } from "./examine.ts";

export function openFindings(findings: readonly Cause[]): readonly Cause[] {
  return findings.filter(({ severity }) => severity !== "info");
}

/** The diagnosis for people: numbered findings with their consequences, then what is already fixed. */
export function reportText(
  stage: string,
  { findings, checked }: Diagnosis,
  paint: Terminal["paint"] = (_, text) => text,
): string {
  const open = openFindings(findings);
  const fixed = findings.filter(({ severity }) => severity === "info");
  const lines = open.flatMap((cause, index) => [...causeLines(cause, `${index + 1}. `, paint), ""]);
  const over = fixed.length === 0 ? [] : ["Fixed already:", ...fixed.map(({ what }) => `   ${what}`), ""];
  const quiet = open.length === 0 ? [paint("green", `Nothing is wrong with the stage ${stage}.`)] : [];
  return [...lines, ...over, ...quiet, `Checked: ${checked.join(", ")}.`].join("\n");
}

function causeLines(
  { severity, what, why, fix, follows }: Cause,
  number: string,
  paint: Terminal["paint"],
): readonly string[] {
  const indent = " ".repeat(number.length);
  // Without their own remedies, because the cause's remedy fixes them too.
  const consequences = follows.map(({ what: consequence }) => `${indent}- ${consequence}`);
  return [
    `${number}${paint(severity === "error" ? "red" : "yellow", what)}`,
    `${indent}${why}`,
    `${indent}Next: ${fix}`,
    ...(consequences.length === 0 ? [] : [`${indent}Consequences:`, ...consequences]),
  ];
}
