import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { announce } from "@income-events/local-stack/announce.ts";
import { startSystem } from "@income-events/local-stack/system.ts";
import { recordedSystem, recordTasks } from "./record-tasks.ts";

// Records docs/operate/operating.md: the ten most common tasks, on a system of its own.
const say = (text: string) => void process.stderr.write(`${text}\n`);
const ports = { apiPort: 0, awsPort: 0, sandboxPort: 0, controlPort: 0 };
const { stage, users, sandbox } = recordedSystem;

const system = await startSystem({ once: true, users, stage, ...ports }, sandbox, say, () => undefined);
const endAnnouncement = announce(system.stack, { sandbox: system.sandbox });
try {
  const page = await recordTasks(system, say);
  await writeFile(join(import.meta.dirname, "../../docs/operate/operating.md"), page);
  say("docs/operate/operating.md: written");
} finally {
  endAnnouncement();
  await system.close();
}
