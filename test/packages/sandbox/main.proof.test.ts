import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { descendantsOf, isAlive } from "../../support/program.ts";
import { sandboxFor } from "./support.ts";

function run(...options: readonly string[]) {
  const child = spawn(process.execPath, ["packages/sandbox/main.ts", ...options], {
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

test("the sandbox ends silently if Ctrl-C arrives twice, as under npm", async () => {
  const child = run("--port", "0");
  await once(createInterface({ input: child.stdout }), "line");
  const end = ended(child);
  child.kill("SIGINT");
  child.kill("SIGINT");
  const { code, error } = await end;
  // A second signal during shutdown kills the process.
  expect([0, null]).toContain(code);
  expect(error).toBe("");
});

test("the sandbox ends with the npm that started it", async () => {
  const npm = spawn("npm", ["run", "--silent", "sandbox", "--", "--port", "0"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [line] = await once(createInterface({ input: npm.stdout }), "line");
  const started = descendantsOf(npm.pid ?? 0);
  expect(started).not.toEqual([]);
  const end = ended(npm);
  npm.kill("SIGTERM");
  await end;
  expect(started.filter(isAlive)).toEqual([]);
  await expect(fetch(JSON.parse(String(line)).sandbox.baseUrl)).rejects.toThrow("fetch failed");
});

test("a port in use is a clear error", async () => {
  const { baseUrl } = await sandboxFor();
  const { code, error, out } = await ended(run("--port", new URL(baseUrl).port));
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(error).toContain("the port is in use");
});

test.each([
  ["--port", "70000"],
  ["--port", "x"],
  ["--nothing"],
  ["--fault", "200"],
  ["--fault", "break"],
  ["--fault", "500:many"],
  ["--fault", "500:101%"],
  ["--fault", "500:0"],
  ["--fault", "500:1:("],
])("%s %s is refused", async (...options) => {
  const { code, error } = await ended(run(...options));
  expect(code).not.toBe(0);
  expect(error).toMatch(/^error: /);
});

test("the line has all addresses; --no-control opens no control address", async () => {
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

test("faults are planned by flags", async () => {
  const child = run("--fault", "503:2:/users", "--fault", "429:50%:/token");
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const { sandbox, production } = JSON.parse(String(line));
  const status = async ({ baseUrl, token }: { baseUrl: string; token: string }, path: string) => {
    const response = await fetch(`${baseUrl}/api/v0.4${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return response.status;
  };
  const users = [];
  const tokens = [];
  for (let made = 0; made < 4; made += 1) {
    users.push(await status(sandbox, "/users"));
    tokens.push(await status(sandbox, "/token/refresh"));
  }
  expect(users).toEqual([503, 503, 200, 200]);
  expect(tokens).toEqual([200, 429, 200, 429]);
  expect(await status(production, "/users")).toBe(200);
});

test.each([
  { flags: [], status: 404 },
  { flags: ["--interface", "0.4"], status: 404 },
  { flags: ["--interface", "0.5"], status: 200 },
])("the paths of interface 0.5 are answered with $status for the flags $flags", async ({ flags, status }) => {
  const child = run(...flags);
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const { baseUrl, token } = JSON.parse(String(line)).sandbox;
  const headers = { authorization: `Bearer ${token}` };
  expect((await fetch(`${baseUrl}/api/v0.5/users`, { headers })).status).toBe(status);
});

test("an unknown interface is an error that names the known ones", async () => {
  const { code, error } = await ended(run("--interface", "0.6"));
  expect(code).not.toBe(0);
  expect(error).toContain("Allowed choices are 0.4, 0.5");
});

test("flags set the rate and the form of Retry-After", async () => {
  const child = run("--requests-per-minute", "1", "--retry-after", "date");
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const { baseUrl, token } = JSON.parse(String(line)).sandbox;
  const users = () => fetch(`${baseUrl}/api/v0.4/users`, { headers: { authorization: `Bearer ${token}` } });
  const answers = [await users(), await users(), await users()];
  // At least one of three exceeds the rate, even across a minute's end.
  const limited = answers.filter(({ status }) => status === 429);
  expect(limited.length).toBeGreaterThan(0);
  for (const { headers } of limited) expect(headers.get("retry-after")).toMatch(/ GMT$/);
});

test("the sandbox with a directory has what was made before a restart", async () => {
  const directory = await mkdtemp(join(tmpdir(), "sandbox-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const usersOf = async (...options: readonly string[]) => {
    const child = run("--directory", directory, ...options);
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    const { baseUrl, token } = JSON.parse(String(line)).sandbox;
    const headers = { authorization: `Bearer ${token}` };
    const users: unknown = await (await fetch(`${baseUrl}/api/v0.4/users`, { headers })).json();
    const end = ended(child);
    child.kill("SIGINT");
    await end;
    return users;
  };
  const made = await usersOf("--users", "3");
  expect(made).toHaveLength(3);
  expect(await usersOf()).toEqual(made);
  expect(await usersOf("--page-size", "2")).toMatchObject({ data: [{}, {}], next: expect.any(String) });
});

test.each([
  ["nowhere.png", "ENOENT"],
  ["logo.txt", "expected a .png, .jpg or .svg file"],
])("the logo %s is a clear error", async (logo, text) => {
  const { code, error } = await ended(run("--logo", logo));
  expect(code).toBe(1);
  expect(error).toContain(text);
});
