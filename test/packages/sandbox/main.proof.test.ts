import { spawnSync } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { descendantsOf, isAlive, runProgram, startProgram } from "../../support/program.ts";
import { directoryForTest, sandboxFor } from "./support.ts";

const file = "packages/sandbox/main.ts";

/** Starts the sandbox; resolves with what its first line says. */
async function started(...options: readonly string[]) {
  const program = runProgram(file, options);
  onTestFinished(() => program[Symbol.asyncDispose]());
  const addresses = JSON.parse(await program.printed(/^\{.*\}$/));
  return { program, addresses };
}

const refused = (...options: readonly string[]) =>
  spawnSync(process.execPath, [file, ...options], { encoding: "utf8" });

/** Calls an environment's API. */
function call({ baseUrl, token }: { baseUrl: string; token: string }, path: string) {
  return fetch(`${baseUrl}/api${path}`, { headers: { authorization: `Bearer ${token}` } });
}

test.each(["SIGINT", "SIGTERM"] as const)("prints one line when ready and ends on %s", async (signal) => {
  const { program, addresses } = await started("--port", "0");
  expect((await call(addresses.sandbox, "/v0.4/users")).status).toBe(200);
  program.signal(signal);
  expect(await program.ended).toBe(0);
  expect(program.count()).toBe(1);
});

test("the sandbox ends silently if Ctrl-C arrives twice, as under npm", async () => {
  const { program } = await started("--port", "0");
  program.signal("SIGINT");
  program.signal("SIGINT");
  // A second signal during shutdown kills the process.
  expect([0, null]).toContain(await program.ended);
  expect(program.count()).toBe(1);
});

test("the sandbox ends with the npm that started it", async () => {
  const npm = startProgram(["npm", "run", "--silent", "sandbox", "--", "--port", "0"], {});
  const { sandbox } = JSON.parse(await npm.printed(/^\{.*\}$/));
  const processes = descendantsOf(npm.pid);
  expect(processes).not.toEqual([]);
  await npm[Symbol.asyncDispose]();
  expect(processes.filter(isAlive)).toEqual([]);
  await expect(fetch(sandbox.baseUrl)).rejects.toThrow("fetch failed");
});

test.each([
  ...[["--port", "70000"], ["--port", "x"], ["--nothing"]].map((options) => [options, "error: "] as const),
  ...["200", "break", "500:many", "500:101%", "500:0", "500:1:("].map(
    (fault) => [["--fault", fault], "error: "] as const,
  ),
  [["--interface", "0.6"], "Allowed choices are 0.4, 0.5"],
  [["--logo", "nowhere.png"], "ENOENT"],
  [["--logo", "logo.txt"], "expected a .png, .jpg or .svg file"],
] as const)("%j is refused with a clear error", (options, text) => {
  const { status, stdout, stderr } = refused(...options);
  expect([status === 0, stdout, stderr]).toEqual([false, "", expect.stringContaining(text)]);
});

test("a port in use is a clear error", async () => {
  const { baseUrl } = await sandboxFor();
  const stderr = expect.stringContaining("the port is in use");
  expect(refused("--port", new URL(baseUrl).port)).toMatchObject({ status: 1, stdout: "", stderr });
});

test("the line has all addresses; --no-control opens no control address", async () => {
  const lineOf = async (...options: readonly string[]) =>
    (await started(...options, "--operator-name", "Bold Bank")).addresses;
  const address = {
    baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    token: expect.any(String),
  };
  const all = { sandbox: address, production: address, control: address.baseUrl };
  expect(await lineOf()).toEqual(all);
  expect(await lineOf("--no-control")).toEqual({ sandbox: address, production: address });
});

test("faults are planned by flags", async () => {
  const { addresses } = await started("--fault", "503:2:/users", "--fault", "429:50%:/token");
  const { sandbox, production } = addresses;
  const users = [];
  const tokens = [];
  for (let made = 0; made < 4; made += 1) {
    users.push((await call(sandbox, "/v0.4/users")).status);
    tokens.push((await call(sandbox, "/v0.4/token/refresh")).status);
  }
  expect(users).toEqual([503, 503, 200, 200]);
  expect(tokens).toEqual([200, 429, 200, 429]);
  expect((await call(production, "/v0.4/users")).status).toBe(200);
});

test.each([
  [[], 404],
  [["--interface", "0.4"], 404],
  [["--interface", "0.5"], 200],
])("with the flags %j a path of interface 0.5 is answered %i", async (flags, status) => {
  const { addresses } = await started(...flags);
  expect((await call(addresses.sandbox, "/v0.5/users")).status).toBe(status);
});

test("flags set the rate and the form of Retry-After", async () => {
  const { addresses } = await started("--requests-per-minute", "1", "--retry-after", "date");
  const users = () => call(addresses.sandbox, "/v0.4/users");
  const answers = [await users(), await users(), await users()];
  // At least one of three exceeds the rate, even across a minute's end.
  const limited = answers.filter(({ status }) => status === 429);
  expect(limited.length).toBeGreaterThan(0);
  for (const { headers } of limited) expect(headers.get("retry-after")).toMatch(/ GMT$/);
});

test("the sandbox with a directory has what was made before a restart", async () => {
  const directory = await directoryForTest();
  const usersOf = async (...options: readonly string[]) => {
    const { program, addresses } = await started("--directory", directory, ...options);
    const users: unknown = await (await call(addresses.sandbox, "/v0.4/users")).json();
    program.signal("SIGINT");
    await program.ended;
    return users;
  };
  const made = await usersOf("--users", "3");
  expect(made).toHaveLength(3);
  expect(await usersOf()).toEqual(made);
  expect(await usersOf("--page-size", "2")).toMatchObject({ data: [{}, {}], next: expect.any(String) });
});
