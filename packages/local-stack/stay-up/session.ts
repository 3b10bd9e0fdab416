import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import type { Sandbox } from "@income-events/sandbox/server.ts";
import { z } from "zod";
import {
  type Addresses,
  addressesOf,
  firstAddresses,
  printableAddresses,
  subscriberVariables,
} from "../addresses.ts";
import { announce, announcementFile } from "../announce.ts";
import { holdsState } from "../engines/kept.ts";
import type { StartOptions } from "../options.ts";
import { writePrivateFile } from "../private-file.ts";
import { type Reports, type System, startUnregistered } from "../system.ts";
import { runSubscriber } from "./subscriber-program.ts";

export type Surface = Reports & {
  readonly print: (text: string) => void;
  readonly interrupted: Promise<undefined>;
};

/**
 * Runs the system once, with the console and the subscribers' programs.
 * @param stays resolves when the session is to end, with its result
 */
export async function runSession<Result>(
  options: StartOptions,
  surface: Surface,
  stays: (system: System) => Promise<Result>,
): Promise<Result> {
  const { users, json, logs, keep } = options;
  const { print, progress } = surface;
  const goesOn = keep !== undefined && holdsState(keep);
  const { system, register } = await startUnregistered(options, {}, surface, () => undefined);
  const ending = new AbortController();
  const announcements = system.pipelines.map((pipeline) => {
    const { sandbox } = pipeline;
    const details = printableAddresses(addressesOf(system, pipeline), { stack: system.stack, sandbox }, logs);
    return announce(system.stack, { pipeline, sandbox, details, logs });
  });
  const programs: (() => Promise<void>)[] = [];
  const opening = startConsole(system, options, (text) => {
    // The console also fails because the system ends.
    if (!ending.signal.aborted) surface.notice(text);
  });
  try {
    await register();
    const page = await opening;
    const all = new Map(
      system.pipelines.map((pipeline) => [pipeline.id, addressesOf(system, pipeline)] as const),
    );
    const addresses = {
      ...addressesOf(system),
      ...(all.size > 1 && { pipelines: Object.fromEntries(all) }),
      ...(page && { console: { url: page.url } }),
    };
    if (json !== undefined) await writePrivateFile(json, `${JSON.stringify(addresses, null, 2)}\n`);
    for (const each of options.subscriber ?? [])
      programs.push(runSubscriber(each, subscriberVariables(all, each.name), print));
    if (goesOn) {
      surface.notice(`Continuing with the state in ${keep}`);
    } else {
      progress(`Connecting the accounts of ${users} sample users`);
      for (const { sandbox } of system.pipelines) await sandbox.createUsers(users, { companyAccounts: 1 });
    }
    const first = page === undefined ? "" : `Console       ${page.url}    (good for one browser)\n`;
    print(`\n${first}${printableSystem(system, all)}\n\nCtrl-C ends it.`);
    const { earnEvery = 0 } = options;
    if (earnEvery > 0)
      for (const { sandbox } of system.pipelines) void keepEarning(sandbox, earnEvery, ending.signal);
    return await stays(system);
  } finally {
    ending.abort();
    for (const end of announcements) end();
    print("\nEnding every process that was started");
    for (const end of programs) await end();
    await (await opening)?.close();
    await system.close();
  }
}

/** Formats the addresses of each pipeline, under its name if there are several. */
function printableSystem({ stack, pipelines }: System, addresses: ReadonlyMap<string, Addresses>): string {
  return pipelines
    .flatMap(({ id, sandbox }) => {
      const own = addresses.get(id);
      if (own === undefined) return [];
      const heading = pipelines.length > 1 ? `The pipeline ${id}\n\n` : "";
      return [heading + firstAddresses(own, { sandbox, file: announcementFile(stack.name, id) })];
    })
    .join("\n\n");
}

type Console = {
  /** URL that admits one browser. */
  readonly url: string;
  close(): Promise<void>;
};

/**
 * Starts the console, which ends with this process. If it fails, the system runs without it.
 * @param notice called with lines to print, for example the URL for another browser
 */
async function startConsole(
  { stack, pipelines }: System,
  { console: program, consolePort = 0 }: Pick<StartOptions, "console" | "consolePort">,
  notice: Surface["notice"],
): Promise<Console | undefined> {
  if (program === undefined) return undefined;
  const { port: awsPort } = new URL(stack.gatewayUrl);
  const args = ["console", "--json", "--write", "--local", awsPort, "--port", String(consolePort)];
  if (pipelines.length > 1) args.push("--pipeline", pipelines[0].id || stack.name);
  // The channel closes with this process, and the console then ends.
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  try {
    const url = await firstAddress(child, notice);
    const close = async () => {
      child.kill("SIGTERM");
      await ended;
    };
    return { url, close };
  } catch (error) {
    notice(`The console did not start: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

const announced = z.object({ url: z.url() });

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

/** Gives connected accounts new data, one after the other, so that there are events to watch. */
async function keepEarning(sandbox: Sandbox, seconds: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const connected = sandbox.snapshot().accounts.filter((each) => each.connected && !each.company);
    for (const { id } of [...connected, { id: undefined }]) {
      await wait(seconds * 1_000, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      if (id !== undefined) sandbox.fetchData(id, ["income", "activity"]);
    }
  }
}
