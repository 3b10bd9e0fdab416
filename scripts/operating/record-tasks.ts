import { readFileSync } from "node:fs";
import type { System } from "@income-events/local-stack/system.ts";
import { operatingPage, withRecorded } from "./document.ts";
import { shownPages } from "./pages.ts";
import { type Scene, tasks } from "./tasks.ts";
import { type Recorded, record } from "./transcript.ts";

/** What the recorded system is like, so that each record shows the same. */
export const recordedSystem = {
  stage: "local",
  users: 3,
  sandbox: { tokenLifetimeSeconds: 86_400, initialTokenRemainingSeconds: 43_200 },
} as const;

/** The page of the tasks, and the pages that show some output, by their files. */
export type RecordedPages = { readonly operating: string; readonly others: ReadonlyMap<string, string> };

/** The pages, as their commands answer on a system that commands find. @param say is given each title */
export async function recordPages(system: System, say: (title: string) => void): Promise<RecordedPages> {
  const { users, accounts } = await system.sandbox.createUsers(recordedSystem.users);
  const [user = "", other = ""] = users;
  const [account = "", otherAccount = ""] = accounts;
  await system.sandbox.waitUntilIdle();
  await system.stack.drained({ deadline: 120_000 });
  const scene: Scene = {
    ...{ system, user, account, other, otherAccount },
    ask: async (command) => JSON.parse((await record(command)).output),
  };
  const recorded: { task: (typeof tasks)[number]; runs: readonly Recorded[] }[] = [];
  for (const task of tasks) {
    say(task.title);
    await task.prepare?.(scene);
    recorded.push({ task, runs: await recordAll(await task.commands(scene)) });
  }
  const others = new Map<string, string>();
  for (const { file, prepare, commands } of shownPages) {
    say(file);
    await prepare?.(scene);
    others.set(file, withRecorded(readFileSync(file, "utf8"), await recordAll(commands(scene))));
  }
  return { operating: operatingPage(recorded), others };
}

async function recordAll(commands: readonly string[]): Promise<readonly Recorded[]> {
  const runs: Recorded[] = [];
  for (const command of commands) runs.push(await record(command));
  return runs;
}
