import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { z } from "zod";

/** A page that shows the system, served by a program beside it. */
export type Console = {
  /** Admits one browser. */
  readonly url: string;
  close(): Promise<void>;
};

export type ConsoleOptions = {
  /** A program of commands, of which `console` serves the page. */
  readonly program: string;
  readonly port: number;
  /** Which one it shows, where there are several. */
  readonly pipeline?: string;
  /** The port of the system's AWS endpoint: how the program finds it among others. */
  readonly awsPort: number;
  /** Is called with what is worth knowing later on: an address for one more browser. */
  readonly onSaid: (line: string) => void;
};

const announced = z.object({ url: z.url() });

/** Starts it, as one that ends with this process however that ends. @throws with what it said where it can't */
export async function startConsole(options: ConsoleOptions): Promise<Console> {
  const { program, port, pipeline, awsPort, onSaid } = options;
  const args = ["console", "--json", "--write", "--local", String(awsPort), "--port", String(port)];
  if (pipeline !== undefined) args.push("--pipeline", pipeline);
  // Its channel to this process closes with it: the console then ends.
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const url = await firstAddress(child, onSaid);
  return {
    url,
    close: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

function firstAddress(child: ChildProcess, onSaid: (line: string) => void): Promise<string> {
  const said: string[] = [];
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => reject(new Error(said.join(" ") || "it ended at once")));
    if (child.stdout !== null)
      createInterface(child.stdout).once("line", (line) => resolve(announced.parse(JSON.parse(line)).url));
    if (child.stderr === null) return;
    createInterface(child.stderr).on("line", (line) => {
      said.push(line);
      if (line.includes("http")) onSaid(line);
    });
  });
}
