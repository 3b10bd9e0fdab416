import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "./command-error.ts";
import { printableJson } from "./printable.ts";

export type TerminalOptions = { readonly json: boolean; readonly yes: boolean };

/** Speaks with whoever runs a command: results on the standard output, all else beside it. */
export type Terminal = {
  /** What was done, for people; with `--json` the data instead, on one line. Of what has no end: each time. */
  result(data: object, text: string): void;
  /** A step of long work. */
  progress(text: string): void;
  /** Waits, and shows how long still. */
  wait(seconds: number, what: string): Promise<void>;
  /** Asks before something is destroyed. @throws CommandError where the answer isn't yes */
  confirm(consequence: string): Promise<void>;
  /** The whole standard input, up to `maxBytes`. @throws CommandError where there is more */
  readInput(maxBytes: number): Promise<string>;
};

/** Where nobody watches a line change, a wait is reported only so often. */
const secondsBetweenLines = 10;

export function createTerminal({ json, yes }: TerminalOptions): Terminal {
  const { stdin, stdout, stderr } = process;
  const progress = (text: string) => void stderr.write(`${text}\n`);
  return {
    progress,
    result: (data, text) => void stdout.write(`${json ? printableJson(data) : text}\n`),
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
      if (!stdin.isTTY)
        throw new CommandError("usage", `${consequence}\nNothing was done. Confirm it with --yes.`);
      const asking = createInterface({ input: stdin, output: stderr });
      const answer = await asking.question(`${consequence}\nGo on? (yes/no) `).finally(() => asking.close());
      if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError("usage", "Nothing was done.");
    },
    readInput: async (maxBytes) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of stdin) {
        const read = Buffer.from(chunk);
        bytes += read.byteLength;
        if (bytes > maxBytes)
          throw new CommandError("usage", `The standard input has over ${maxBytes} bytes.`);
        chunks.push(read);
      }
      return Buffer.concat(chunks).toString("utf8");
    },
  };
}
