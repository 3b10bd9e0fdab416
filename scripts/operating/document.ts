import type { Task } from "./tasks.ts";
import type { Recorded } from "./transcript.ts";

const head = [
  "# The ten most common tasks",
  "",
  "Each task as a terminal showed it. `npm run docs -- --operating` made this page: it starts the system of `npm start` with",
  "three sample users of the sandbox, runs each command, and records the output. For a stage in AWS add",
  "`--outputs outputs.json`. Every command has `--help` with examples.",
  "",
].join("\n");

/** The page of what was recorded. */
export function operatingPage(
  recorded: readonly { readonly task: Pick<Task, "title" | "text">; readonly runs: readonly Recorded[] }[],
): string {
  const sections = recorded.map(({ task, runs }, index) =>
    [
      `## ${index + 1}. ${task.title}`,
      "",
      task.text,
      "",
      fence("console"),
      ...runs.map(printed),
      fence(""),
    ].join("\n"),
  );
  return `${[head, ...sections.map((section) => `${section}\n`)].join("\n")}`;
}

const block = /(?<=^```console\n)[\s\S]*?(?=^```$)/m;

/** A page with what was recorded in the place of the block that it has. */
export function withRecorded(page: string, runs: readonly Recorded[]): string {
  return page.replace(block, () => `${runs.map(printed).join("\n")}\n`);
}

/** What a page shows of a terminal. */
export function recordedIn(page: string): string {
  return block.exec(page)?.[0] ?? "";
}

const fence = (language: string) => `\`\`\`${language}`;

function printed({ command, output, code }: Recorded): string {
  const end = code === 0 ? [] : [`(exit code ${code})`];
  return [`$ npx income-events ${command}`, output.trimEnd(), ...end].join("\n");
}
