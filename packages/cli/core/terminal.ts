import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters, styleText } from "node:util";
import { CommandError } from "./command-error.ts";
import { printableJson } from "./printable.ts";

export type TerminalOptions = { readonly json: boolean; readonly yes: boolean };

/** Speaks with whoever runs a command: results on the standard output, all else beside it. */
export type Terminal = {
  /**
   * Prints a result for people; with `--json` prints the data on one line instead. Endless commands call it
   * repeatedly.
   */
  result(data: object, text: string): void;
  /** Shows anew what is watched: in place of what was shown before, where a person looks, cut to the screen's width. */
  redraw(data: object, text: string): void;
  /** Text in a colour, where there is a terminal and nobody has set NO_COLOR. */
  paint(format: "red" | "yellow" | "green", text: string): string;
  /** A step of long work. */
  progress(text: string): void;
  /** Waits, and shows how long still. */
  wait(seconds: number, what: string): Promise<void>;
  /**
   * Asks before something is destroyed.
   * @param consequence what would be; a function of it is called only where it is asked
   * @throws CommandError where the answer isn't yes
   */
  confirm(consequence: string | (() => Promise<string>)): Promise<void>;
  /** The whole standard input, up to `maxBytes`. @throws CommandError where there is more */
  readInput(maxBytes: number): Promise<string>;
};

/** Where nobody watches a line change, a wait is reported only so often. */
const secondsBetweenLines = 10;

/** Moves to the first line and clears what is below. */
const clearScreen = "\x1b[H\x1b[J";

/** Lines no longer than a screen is wide: one that breaks would push the others out of it. */
export function cutLines(text: string, columns: number): string {
  return text
    .split("\n")
    .map((line) => (line.length > columns ? `${line.slice(0, columns - 1)}…` : line))
    .join("\n");
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
    result,
    redraw: (data, text) => {
      if (json || !stdout.isTTY) result(data, text);
      else stdout.write(`${clearScreen}${cutLines(text, stdout.columns)}\n`);
    },
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
        // Ctrl-C is an answer, too.
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
