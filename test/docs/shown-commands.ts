import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** A command line on a page: its words before the first pipe or redirection. */
type ShownCommand = { readonly page: string; readonly line: string };

/** Pages with commands to type. */
const pages: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "docs/guide/*.md",
  "docs/operate/*.md",
].flatMap((pattern) => globSync(pattern, { cwd: root }).sort());

const program = /^(?:npm|npx|node|aws|git|LAWS_SEED=\S+)\b/;

/** All command lines of the pages, in blocks and within sentences. */
export function shownCommands(): readonly ShownCommand[] {
  return pages.flatMap((page) => {
    const text = readFileSync(join(root, page), "utf8");
    const inline = text
      .replaceAll(/^ *```[\s\S]*?^ *```$/gm, "")
      .matchAll(/`((?:npm|npx|node|LAWS_SEED=\S+) [^`]+)`/g);
    const lines = [...blocksOf(text).flatMap(linesOf), ...[...inline].map(([, line = ""]) => line)];
    return [...new Set(lines.flatMap((line) => commandsOf(line)))].map((line) => ({ page, line }));
  });
}

function blocksOf(text: string): readonly string[] {
  return [...text.matchAll(/^ *```(sh|console|)\n([\s\S]*?)^ *```$/gm)].map(([, language, code = ""]) =>
    language === "console"
      ? code
          .split("\n")
          .flatMap((line) => (line.startsWith("$ ") ? [line.slice(2)] : []))
          .join("\n")
      : language === "sh"
        ? code
        : code
            .split("\n")
            .filter((line) => program.test(line))
            .join("\n"),
  );
}

/** Joins continued lines (`\`, a pipe, a loop, a quotation). */
function linesOf(block: string): readonly string[] {
  const lines: string[] = [];
  for (const line of block.split("\n").map((each) => each.trim())) {
    const before = lines.at(-1);
    if (before !== undefined && /(?:\\|\||; do)$/.test(before)) lines[lines.length - 1] = `${before} ${line}`;
    else if (line !== "") lines.push(line);
  }
  return lines;
}

/** Commands of a line, split at `&&`, without comments, pipes and redirections. */
function commandsOf(line: string): readonly string[] {
  // An AWS CLI command within a line makes the whole line need AWS.
  if (/\baws [a-z]/.test(line)) return [line.replace(/^.*?(?=\baws [a-z])/, "")];
  return line.split(" && ").map((part) => (part.split(/ {2,}#| [|<>] /)[0] ?? "").trim());
}
