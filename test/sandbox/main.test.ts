import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { sandboxFor } from "./support.ts";

function run(...options: readonly string[]) {
  const child = spawn(process.execPath, ["sandbox/main.ts", ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function ended(child: ChildProcess): Promise<{ code: unknown; out: string; error: string }> {
  let out = "";
  let error = "";
  child.stdout?.on("data", (chunk: Buffer) => (out += chunk));
  child.stderr?.on("data", (chunk: Buffer) => (error += chunk));
  const [code] = await once(child, "close");
  return { code, out, error };
}

test.each(["SIGINT", "SIGTERM"] as const)("prints one line when ready and ends on %s", async (signal) => {
  const child = run("--port", "0");
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const { sandbox } = JSON.parse(String(line));
  const headers = { authorization: `Bearer ${sandbox.token}` };
  const response = await fetch(`${sandbox.baseUrl}/api/v0.4/users`, { headers });
  expect(response.status).toBe(200);
  const end = ended(child);
  child.kill(signal);
  expect(await end).toMatchObject({ code: 0, error: "" });
});

test("a port in use is a clear error", async () => {
  const { baseUrl } = await sandboxFor();
  const { code, error, out } = await ended(run("--port", new URL(baseUrl).port));
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(error).toContain("the port is in use");
});

test.each([["--port", "70000"], ["--port", "x"], ["--nothing"]])("%s %s is refused", async (...options) => {
  const { code, error } = await ended(run(...options));
  expect(code).not.toBe(0);
  expect(error).toMatch(/^error: /);
});

test("the line tells all addresses; --no-control opens no control address", async () => {
  const lineOf = async (...options: readonly string[]) => {
    const child = run(...options, "--operator-name", "Bold Bank");
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    const end = ended(child);
    child.kill("SIGTERM");
    await end;
    return JSON.parse(String(line));
  };
  const address = {
    baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    token: expect.any(String),
  };
  const all = { sandbox: address, production: address, control: address.baseUrl };
  expect(await lineOf()).toEqual(all);
  expect(await lineOf("--no-control")).toEqual({ sandbox: address, production: address });
});

test.each([
  ["nowhere.png", "ENOENT"],
  ["logo.txt", "expected a .png, .jpg or .svg file"],
])("the logo %s is a clear error", async (logo, text) => {
  const { code, error } = await ended(run("--logo", logo));
  expect(code).toBe(1);
  expect(error).toContain(text);
});

test("--help describes the options", async () => {
  const { code, out } = await ended(run("--help"));
  expect(code).toBe(0);
  expect(out).toContain("--port");
});
