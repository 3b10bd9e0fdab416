import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { announce } from "@income-events/local-stack/announce.ts";
import { startSystem } from "@income-events/local-stack/system.ts";
import { operatingPage } from "./document.ts";
import { type Scene, tasks } from "./tasks.ts";
import { type Recorded, record } from "./transcript.ts";

// Records docs/operate/operating.md: the ten most common tasks, on a system of its own.
const say = (text: string) => void process.stderr.write(`${text}\n`);
const ports = { apiPort: 0, awsPort: 0, sandboxPort: 0, controlPort: 0 };
const options = { once: true, users: 3, stage: "local", ...ports };
const sandbox = { tokenLifetimeSeconds: 86_400, initialTokenRemainingSeconds: 43_200 };

const system = await startSystem(options, sandbox, say, () => undefined);
const endAnnouncement = announce(system.stack, { sandbox: system.sandbox });
try {
  const { users, accounts } = await system.sandbox.createUsers(options.users);
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
  await writeFile(join(import.meta.dirname, "../../docs/operate/operating.md"), operatingPage(recorded));
  say("docs/operate/operating.md: written");
} finally {
  endAnnouncement();
  await system.close();
}
