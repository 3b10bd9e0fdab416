import type { System } from "@income-events/local-stack/system.ts";
import { operatingPage } from "./document.ts";
import { type Scene, tasks } from "./tasks.ts";
import { type Recorded, record } from "./transcript.ts";

/** What the recorded system is like, so that each record shows the same. */
export const recordedSystem = {
  stage: "local",
  users: 3,
  sandbox: { tokenLifetimeSeconds: 86_400, initialTokenRemainingSeconds: 43_200 },
} as const;

/** The page of the tasks, as they go on a system that commands find. @param say is given each title */
export async function recordTasks(system: System, say: (title: string) => void): Promise<string> {
  const { users, accounts } = await system.sandbox.createUsers(recordedSystem.users);
  const [user = "", account = ""] = [users[0], accounts[0]];
  await system.sandbox.settled();
  await system.stack.drained({ deadline: 120_000 });
  const scene: Scene = {
    system,
    user,
    account,
    ask: async (command) => JSON.parse((await record(command)).output),
  };
  const recorded: { task: (typeof tasks)[number]; runs: Recorded[] }[] = [];
  for (const task of tasks) {
    say(task.title);
    await task.prepare?.(scene);
    const runs: Recorded[] = [];
    for (const command of await task.commands(scene)) runs.push(await record(command));
    recorded.push({ task, runs });
  }
  return operatingPage(recorded);
}
