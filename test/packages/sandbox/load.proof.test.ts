import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";

/** The measurement of `npm run proof -- sandbox-load`, with fewer users and events. */
async function measure(...limits: readonly string[]) {
  const load = ["--users", "300", "--per-second", "1000", "--seconds", "1", "--end-seconds", "240"];
  const child = spawn(process.execPath, ["proof/sandbox-load/main.ts", ...load, ...limits], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGTERM"));
  let [out, error] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk));
  child.stderr.on("data", (chunk: Buffer) => (error += chunk));
  const [code] = await once(child, "close");
  return { code, out, error };
}

// It reads how much memory a process takes from /proc.
const onLinux = test.skipIf(process.platform !== "linux");

onLinux("a sandbox under load delivers everything, keeps answering and stays small", async () => {
  const { code, out, error } = await measure("--wait-ms", "60000");
  expect({ code, error }).toEqual({ code: 0, error: "" });
  const { memoryMb, waitMs, ...figures } = JSON.parse(out);
  expect(figures).toEqual({ users: 300, deliveries: 1900, seconds: expect.any(Number) });
  expect(memoryMb).toBeGreaterThan(30);
  expect(waitMs).toBeGreaterThan(0);
});

onLinux("a limit that is broken is said and fails the measurement", async () => {
  const { code, error } = await measure("--memory-mb", "20", "--wait-ms", "0");
  expect(code).toBe(1);
  expect(error).toMatch(/^memoryMb \d+ is over 20\nwaitMs \d+ is over 0\n$/);
});
