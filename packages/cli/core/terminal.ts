import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters, styleText } from "node:util";
import { CommandError } from "./command-error.ts";
import { printableJson } from "./text.ts";

export type TerminalOptions = { readonly json: boolean; readonly yes: boolean };

/** The output of a command: results on standard output, everything else on standard error. */
export type Terminal = {
  /**
   * Prints a result for people; with `--json` prints the data on one line instead. Endless commands call it
   * repeatedly.
   */
  result(data: object, text: string): void;
  /** Coloured text, unless the output is not a terminal or NO_COLOR is set. */
  paint(format: "red" | "yellow" | "green", text: string): string;
  progress(text: string): void;
  /** Progress of work with many steps: only some of them are printed, and none of a short one. */
  step(text: string): void;
  /** Waits, and shows the remaining time. */
  wait(seconds: number, what: string): Promise<void>;
  /**
   * Asks before something is destroyed.
   * @param consequence a function is called only if the question is asked
   * @throws CommandError unless the answer is yes
   */
  confirm(consequence: string | (() => Promise<string>)): Promise<void>;
  /** Standard input up to `maxBytes`. @throws CommandError if it is longer */
  readInput(maxBytes: number): Promise<string>;
};

/** Seconds between reports of a wait and of steps if the output is not a terminal. */
const secondsBetweenLines = 10;

/** Reports a text if none was reported in the period before. */
export function occasionally(
  report: (text: string) => void,
  seconds = secondsBetweenLines,
  now = Date.now,
): (text: string) => void {
  let last = now();
  return (text) => {
    if (now() < last + seconds * 1000) return;
    last = now();
    report(text);
  };
}

/** The cells of a row, separated by at least two spaces. */
const cells = / *\S+(?: \S+)*/g;
/** The words of a sentence. A command counts as one word, so that it can be copied. */
const words = / ?(?:npx .*|\S+)/g;

/** Breaks rows and sentences that are wider than a screen. Other lines, such as JSON, stay. */
export function foldLines(text: string, columns: number): string {
  return text
    .split("\n")
    .flatMap((line) => foldLine(line, columns))
    .join("\n");
}

function foldLine(line: string, columns: number): readonly string[] {
  const isWide = (text: string) => stripVTControlCharacters(text).length > columns;
  const isRow = /\S {2,}\S/.test(line);
  const isSentence = /^\p{L}/u.test(line);
  if (!isWide(line) || (!isRow && !isSentence)) return [line];
  const parts = line.match(isRow ? cells : words) ?? [];
  const lines = [""];
  for (const part of parts) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && isWide(last + part)) lines.push(`    ${part.trimStart()}`);
    else lines[lines.length - 1] = last + part;
  }
  return lines;
}

export function createTerminal({ json, yes }: TerminalOptions): Terminal {
  const { stdin, stdout, stderr } = process;
  const progress = (text: string) => void stderr.write(`${text}\n`);
  const result = (data: object, text: string) => {
    const shown = stdout.isTTY ? foldLines(text, stdout.columns) : text;
    stdout.write(`${json ? printableJson(data) : shown}\n`);
  };
  return {
    progress,
    step: occasionally(progress, stderr.isTTY ? 1 : secondsBetweenLines),
    result,
    paint: (format, text) => styleText(format, text, { stream: stdout }),
    wait: async (seconds, what) => {
      for (let left = seconds; left > 0; left -= 1) {
        const line = `${what}: ${Math.ceil(left)} s`;
        if (stderr.isTTY) stderr.write(`\r${line} `);
        else if ((seconds - left) % secondsBetweenLines === 0) progress(line);
        await sleep(Math.min(left, 1) * 1000);
      }
      if (stderr.isTTY) stderr.write("\n");
    },
    confirm: async (consequence) => {
      if (yes) return;
      const shown = typeof consequence === "string" ? consequence : await consequence();
      if (!stdin.isTTY) throw CommandError.usage(`${shown}\nNothing was done. Confirm it with --yes.`);
      const asking = createInterface({ input: stdin, output: stderr, terminal: true });
      const answer = await asking
        .question(`${shown}\nContinue? (yes/no) `)
        // Ctrl-C counts as no.
        .catch(() => "no")
        .finally(() => asking.close());
      if (!/^y(es)?$/i.test(answer.trim())) throw CommandError.usage("Nothing was done.");
    },
    readInput: async (maxBytes) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of stdin) {
        const read = Buffer.from(chunk);
        bytes += read.byteLength;
        if (bytes > maxBytes) throw CommandError.usage(`The standard input has over ${maxBytes} bytes.`);
        chunks.push(read);
      }
      return Buffer.concat(chunks).toString("utf8");
    },
  };
}
