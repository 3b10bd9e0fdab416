import type { Check } from "./checks.ts";
import type { SmokeOptions } from "./options.ts";
import type { Report } from "./run.ts";

export function printableCheck({ name, passed, seen }: Check): string {
  return `${passed ? "ok  " : "FAIL"}  ${name}: ${seen}`;
}

/** The counts, whom the run has reached, and how what it stored is erased. */
export function printableSummary(
  { stage, run, checks, webhooks, subscribers, documentsRead, documentsMissing }: Report,
  { outputs, stage: given, pipeline }: Pick<SmokeOptions, "outputs" | "stage" | "pipeline">,
): string {
  const passed = checks.filter((check) => check.passed).length;
  const where = [
    ...(outputs === undefined ? [] : ["--outputs", outputs]),
    ...(given === undefined ? [] : ["--stage", given]),
    ...(pipeline === undefined ? [] : ["--pipeline", pipeline]),
  ];
  const left = `Not read, and left with the run's messages: ${subscribers.left.join(", ")}.`;
  return [
    `${passed} of ${checks.length} checks of the stage ${stage} passed; ${webhooks.sent} webhooks sent, at most ${webhooks.atOnce} at once.`,
    `${documentsRead} documents read that messages of the stage announced, ${documentsMissing} missing.`,
    ...(subscribers.left.length === 0 ? [] : [left]),
    `Ids of this run begin with ${run}. To delete what it has stored:`,
    `  npm run smoke -- ${[...where, "--erase", run].join(" ")}`,
  ].join("\n");
}
