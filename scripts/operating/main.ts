import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { announce } from "@income-events/local-stack/announce.ts";
import { startSystem } from "@income-events/local-stack/system.ts";
import { recordedSystem, recordPages } from "./record-tasks.ts";

// Records docs/operate: the ten most common tasks, and what other pages show, on a system of its own.
const say = (text: string) => void process.stderr.write(`${text}\n`);
const ports = { apiPort: 0, awsPort: 0, sandboxPort: 0, controlPort: 0 };
const { stage, users, sandbox } = recordedSystem;

const logs = await mkdtemp(join(tmpdir(), "operating-"));
const system = await startSystem({ once: true, users, stage, logs, ...ports }, sandbox, say, () => undefined);
const endAnnouncement = announce(system.stack, { sandbox: system.sandbox, logs });
try {
  const { operating, others } = await recordPages(system, say);
  await writeFile(join(import.meta.dirname, "../../docs/operate/operating.md"), operating);
  for (const [file, page] of others) await writeFile(file, page);
  say("docs/operate: written");
} finally {
  endAnnouncement();
  await system.close();
  await rm(logs, { recursive: true });
}
