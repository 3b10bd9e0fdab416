/**
 * Drills a restore on this machine's engines: `npm run proof -- restore-drill`. Exits 1 where anything is not as it was, or where
 * an erased user is back. See docs/operate/restore.md.
 */
import { startSystem } from "@income-events/local-stack/system.ts";
import { restoreDrill } from "./drill.ts";

const began = Date.now();
const say = (line: string) => {
  process.stdout.write(`${((Date.now() - began) / 1000).toFixed(1).padStart(7)} s  ${line}\n`);
};
const stage = "local";
const ports = { apiPort: 0, awsPort: 0, sandboxPort: 0 };
const system = await startSystem({ once: true, users: 0, stage, ...ports }, {}, say, () => undefined);
try {
  const problems = await restoreDrill(system, stage, say);
  for (const problem of problems) say(`WRONG: ${problem}`);
  say(problems.length === 0 ? "All is back, and who was erased is not." : `${problems.length} problems`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await system.close();
}
