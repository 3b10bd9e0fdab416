import { setTimeout as wait } from "node:timers/promises";
import {
  type Addresses,
  addressesOf,
  firstAddresses,
  printableAddresses,
  subscriberVariables,
} from "../addresses.ts";
import { announce, announcementFile } from "../announce.ts";
import { holdsState } from "../engines/kept.ts";
import { defaultConsolePort, type StartOptions } from "../options.ts";
import { writePrivateFile } from "../private-file.ts";
import { type System, startUnregistered } from "../system.ts";
import { type Console, startConsole } from "./console.ts";
import { runSubscriber } from "./subscriber-program.ts";

/** Whoever has started it. */
export type Surface = {
  readonly print: (text: string) => void;
  readonly progress: (step: string) => void;
  /** Rewrites one line of a terminal; absent where the output is no terminal. */
  readonly status?: (line: string) => void;
  /** Resolves when it is to end. */
  readonly interrupted: Promise<undefined>;
};

/**
 * Runs the system once, with all that is beside it.
 * @param stays resolves when it is to end; what it resolves with is the result
 */
export async function runSession<Result>(
  options: StartOptions,
  { print, progress, status }: Surface,
  stays: (system: System) => Promise<Result>,
): Promise<Result> {
  const { users, json, logs, keep } = options;
  const goesOn = keep !== undefined && holdsState(keep);
  const { system, register } = await startUnregistered(options, {}, progress, () => undefined);
  const ending = new AbortController();
  const announcements = system.pipelines.map((pipeline) => {
    const { sandbox } = pipeline;
    const details = printableAddresses(addressesOf(system, pipeline), { stack: system.stack, sandbox }, logs);
    return announce(system.stack, { pipeline, sandbox, details, ...(logs === undefined ? {} : { logs }) });
  });
  const programs: (() => Promise<void>)[] = [];
  const opening = consoleOf(system, options, progress);
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
      progress(`Going on with what ${keep} keeps`);
    } else {
      progress(`Connecting the accounts of ${users} sample users`);
      for (const { sandbox } of system.pipelines) await sandbox.createUsers(users, { companyAccounts: 1 });
    }
    const first = page === undefined ? "" : `Console       ${page.url}    (good for one browser)\n`;
    print(`\n${first}${printableSystem(system, all)}\n\nCtrl-C ends it.`);
    if (status !== undefined) void showActivity(system, status, ending.signal);
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

/** The addresses of each pipeline, below its name where there are several. */
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

/** The page on the system. Without it all else runs: why it is not there is said. */
async function consoleOf(
  { stack, pipelines }: System,
  { console: program, consolePort = defaultConsolePort }: Pick<StartOptions, "console" | "consolePort">,
  progress: Surface["progress"],
): Promise<Console | undefined> {
  if (program === undefined) return undefined;
  const awsPort = Number(new URL(stack.gatewayUrl).port);
  try {
    const shown = pipelines.length > 1 ? { pipeline: pipelines[0].id || stack.name } : {};
    return await startConsole({ program, port: consolePort, awsPort, onSaid: progress, ...shown });
  } catch (error) {
    progress(`There is no console: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** How often each function worked, as it changes. */
async function showActivity(
  { stack }: System,
  status: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let shown = "";
  while (!signal.aborted) {
    const line = stack.functions
      .filter(({ counts }) => counts().invocations > 0)
      .map(
        ({ logicalId, counts }) => `${logicalId.replace(/Function[0-9A-F]{8}$/, "")} ${counts().invocations}`,
      )
      .join(", ");
    if (line !== shown) status(`Invocations: ${line}`);
    shown = line;
    await wait(1_000, undefined, { signal }).catch(() => undefined);
  }
}
