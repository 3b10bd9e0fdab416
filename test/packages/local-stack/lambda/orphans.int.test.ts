import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";

const hostModule = new URL("../../../../packages/local-stack/lambda/function-process.ts", import.meta.url)
  .href;

test("a function's process ends when the runner is killed", async () => {
  const directory = await mkdtemp(join(tmpdir(), "function-"));
  await writeFile(join(directory, "index.mjs"), "export const handler = () => new Promise(() => {});");
  const plan = { directory, handler: "index.handler", memoryMb: 128, timeoutSeconds: 60 };
  await writeFile(
    join(directory, "runner.mjs"),
    `import { startFunctionProcess } from ${JSON.stringify(hostModule)};
     const started = startFunctionProcess(${JSON.stringify(plan)}, {}, console.log);
     await started.initialized;
     started.invoke("{}");
     console.log(process.getActiveResourcesInfo().length, (await import("node:fs")).readFileSync("/proc/self/task/" + process.pid + "/children", "utf8"));`,
  );
  const runner = spawn(process.execPath, [join(directory, "runner.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await new Promise<string[]>((resolve) => {
    createInterface({ input: runner.stdout }).once("line", (text) => resolve([text]));
  });
  const child = Number(line?.trim().split(" ").at(-1));
  expect(() => process.kill(child, 0)).not.toThrow();
  runner.kill("SIGKILL");
  await eventually(() => expect(() => process.kill(child, 0)).toThrow("ESRCH"));
  await rm(directory, { recursive: true, force: true });
});
