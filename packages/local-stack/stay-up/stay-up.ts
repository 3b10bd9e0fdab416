import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readAssembly } from "../assembly/read-assembly.ts";
import type { StartOptions } from "../options.ts";
import type { LocalStack } from "../stack.ts";
import { readProject } from "../synthesis/project.ts";
import { synthesize } from "../synthesis/synthesize.ts";
import type { System } from "../system.ts";
import { runSession, type Surface } from "./session.ts";
import { changedFunctions, type ProjectWatch, watchProject } from "./watch-project.ts";

/**
 * Stays up until it is interrupted, with sample users that connect accounts.
 * @returns the exit code
 */
export async function stayUp(options: StartOptions, surface: Surface): Promise<number> {
  if (options.watch === true && options.assembly === undefined) await follow(options, surface);
  else await runSession(options, surface, () => surface.interrupted);
  return 0;
}

async function follow(options: StartOptions, surface: Surface): Promise<void> {
  await using folders = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "income-events-"));
  folders.defer(() => rm(folder, { recursive: true, force: true }));
  using watching = watchProject(readProject(process.cwd()));
  let count = 0;
  const next = () => {
    count += 1;
    return synthesize(options.stage, join(folder, `assembly-${count}`));
  };
  const keep = options.keep ?? join(folder, "state");
  surface.progress(`Synthesizing the stack of the stage ${options.stage}`);
  let assembly: string | undefined = await next();
  let ports: Partial<StartOptions> = {};
  while (assembly !== undefined) {
    const changes: Changes = { assembly, watching, next, ...surface };
    const stays = (system: System): Promise<string | undefined> => {
      ports = portsOf(system);
      return Promise.race([surface.interrupted, untilRestart(system.stack, changes, options.stack)]);
    };
    assembly = await runSession({ ...options, ...ports, assembly, keep }, surface, stays).catch(
      (error: unknown): Promise<string | undefined> => {
        // The first start must succeed. A later change that breaks the project can be followed by one that
        // repairs it.
        if (count === 1) throw error;
        surface.notice(`The restart failed: ${wordsOf(error)}`);
        return Promise.race([surface.interrupted, changedAssembly(changes)]);
      },
    );
    if (assembly !== undefined) surface.notice("Starting again, with what is stored");
  }
}

/** Reuses the addresses of the previous start, even if they were free ports. */
function portsOf({ stack, sandbox }: System): Partial<StartOptions> {
  const portOf = (address: string) => Number(new URL(address).port);
  return {
    awsPort: portOf(stack.gatewayUrl),
    sandboxPort: portOf(sandbox.baseUrl),
    ...(stack.apiUrl !== undefined && { apiPort: portOf(stack.apiUrl) }),
    ...(sandbox.control !== undefined && { controlPort: portOf(sandbox.control) }),
  };
}

type Changes = Surface & {
  readonly assembly: string;
  readonly watching: ProjectWatch;
  readonly next: () => Promise<string>;
};

/**
 * Updates functions' code while nothing else changes.
 * @returns the assembly for the next start
 */
async function untilRestart(
  stack: LocalStack,
  changes: Changes,
  stackName: string | undefined,
): Promise<string> {
  let { template } = readAssembly(changes.assembly, stackName);
  for (;;) {
    const assembly = await changedAssembly(changes);
    const changed = readAssembly(assembly, stackName).template;
    const ids = changedFunctions(template, changed);
    if (ids === undefined) return assembly;
    template = changed;
    for (const plan of stack.functionsOf(assembly).filter(({ logicalId }) => ids.includes(logicalId)))
      stack.functions.find(({ logicalId }) => logicalId === plan.logicalId)?.serve([plan]);
    changes.notice(
      ids.length === 0 ? "Nothing of the stack has changed" : `New code, without a break: ${ids.join(", ")}`,
    );
  }
}

/** Reports a failed synthesis and waits for the next change. */
async function changedAssembly({ watching, next, progress, notice }: Changes): Promise<string> {
  for (;;) {
    await watching.changed();
    progress("The app has changed: synthesizing");
    const assembly = await next().catch((error: unknown) => notice(wordsOf(error)));
    if (typeof assembly === "string") return assembly;
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
