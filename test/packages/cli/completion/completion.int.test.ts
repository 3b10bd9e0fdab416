import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { candidates } from "../../../../packages/cli/completion/candidates.ts";
import { addKept, keepCommand } from "../../../../packages/cli/completion/kept-command.ts";
import { knownValues } from "../../../../packages/cli/completion/known-values.ts";
import { compileCacheDirectory } from "../../../../packages/cli/core/places.ts";
import { createProgram } from "../../../../packages/cli/program.ts";
import { runInProcess } from "../../../support/in-process.ts";

let directory: string;
let script: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "completion-"));
  const { code, stdout } = await runInProcess(["completion", "bash"]);
  expect(code).toBe(0);
  script = join(directory, "completion.bash");
  writeFileSync(script, stdout);
});
afterAll(() => rmSync(directory, { recursive: true }));

/** What bash itself gets from the function that is registered for the first word. */
function bashCompletes(...words: readonly string[]): readonly string[] {
  const program = `
    source "$0" && source "$0"
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    registered=$(complete -p "$1") || exit 9
    [[ $registered =~ -F\\ ([^ ]+) ]] || exit 8
    "\${BASH_REMATCH[1]}" "$1" "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync("bash", ["--norc", "-c", program, script, ...words], {
    encoding: "utf8",
    cwd: directory,
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout.split("\n").filter((line) => line !== "");
}

describe("bash", () => {
  it("completes commands, those below them, and their options", () => {
    expect(bashCompletes("income-events", "tok")).toEqual(["token"]);
    expect(bashCompletes("income-events", "token", "")).toEqual(expect.arrayContaining(["set", "show"]));
    expect(bashCompletes("income-events", "token", "refresh", "--n")).toEqual(["--now"]);
  });

  it("completes after npx too, and leaves what else npx runs alone", () => {
    expect(bashCompletes("npx", "income-events", "webhooks", "l")).toEqual(["list"]);
    expect(bashCompletes("npx", "cdk", "de")).toEqual([]);
    expect(bashCompletes("npx", "in")).toEqual([]);
  });

  it("completes stages of the file of outputs", () => {
    const file = join(directory, "outputs.json");
    writeFileSync(file, JSON.stringify({ "income-events-prod": {}, "income-events-dev": {}, other: {} }));
    const line = ["income-events", "status", "--outputs", file, "--stage"];
    expect(bashCompletes(...line, "")).toEqual(["prod", "dev"]);
    expect(bashCompletes(...line, "=", "p")).toEqual(["prod"]);
    expect(bashCompletes("income-events", "status", "--outputs", "missing", "--stage", "")).toEqual([]);
  });

  it("leaves names of files to the shell, and evaluates no word", () => {
    expect(bashCompletes("income-events", "status", "--outputs", "")).toEqual([]);
    const trap = join(directory, "trap");
    expect(bashCompletes("income-events", "events", `$(touch ${trap})`, "li")).toEqual(["list"]);
    expect(existsSync(trap)).toBe(false);
  });
});

it.each(["zsh", "fish"])("%s gets a function that asks this program", async (shell) => {
  const { code, stdout } = await runInProcess(["completion", shell]);
  expect(code).toBe(0);
  const program = `'${process.execPath}' '${join(process.cwd(), "packages", "cli", "main.ts")}' __complete`;
  expect(stdout).toContain(`NODE_COMPILE_CACHE='${compileCacheDirectory}' ${program}`);
});

it("no other shell has one", async () => {
  expect(await runInProcess(["completion", "tcsh"])).toMatchObject({
    code: 2,
    stderr: "There is no completion for tcsh; there is: bash, zsh, fish.\n",
  });
});

it("a Tab loads no client of AWS, settings or compiler once an earlier one has kept the command: they take most of a start", () => {
  const report = `import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    process.on("exit", () => console.error(JSON.stringify([...loaded, ...process.moduleLoadList])));`;
  const loadedByTab = () => {
    const words = ["packages/cli/main.ts", "__complete", "events", "list", "--ty"];
    const hooks = `data:text/javascript,${encodeURIComponent(report)}`;
    const env = { ...process.env, NODE_COMPILE_CACHE: compileCacheDirectory };
    const options = { encoding: "utf8", env } as const;
    const { stdout, stderr } = spawnSync(process.execPath, ["--import", hooks, ...words], options);
    expect(stdout).toContain("--type\t");
    return z.array(z.string()).parse(JSON.parse(stderr));
  };
  loadedByTab();
  const loaded = loadedByTab();
  expect(loaded).toContainEqual(expect.stringMatching(/cli\/completion\/candidates\.ts$/));
  expect(loaded.filter((url) => /@aws-sdk|@smithy|aws-cdk-lib|zod|amaro/.test(url))).toEqual([]);
});

it("every command is completed from what an earlier Tab kept as from its own file", async () => {
  const program = await createProgram();
  const paths = program.commands.flatMap((group) =>
    group.commands.length === 0
      ? [[group.name()]]
      : group.commands.map((command) => [group.name(), command.name()]),
  );
  for (const path of paths) {
    const names = new Command("income-events");
    const leaf = path.reduce((command, word) => command.command(word), names);
    const known = find(program, path);
    keepCommand(known, "test-of-all");
    expect(addKept(leaf, "test-of-all"), path.join(" ")).toBe(true);
    for (const begun of ["--", ""])
      expect(candidates(names, [...path, begun], knownValues("/nowhere"))).toEqual(
        candidates(program, [...path, begun], knownValues("/nowhere")),
      );
  }
  expect(addKept(new Command(), "never-kept")).toBe(false);
});

function find(program: Command, path: readonly string[]): Command {
  return path.reduce((command, word) => {
    const below = command.commands.find((each) => each.name() === word);
    if (below === undefined) throw new Error(`no command ${word}`);
    return below;
  }, program);
}

describe("candidates", () => {
  const none = () => [];
  const valuesAt = (program: Command, ...words: readonly string[]) =>
    candidates(program, words, none).map(({ value }) => value);

  it("lead to every command that there is, with what it does", async () => {
    const program = await createProgram();
    const check = (command: Command, words: readonly string[]) => {
      for (const below of command.createHelp().visibleCommands(command)) {
        if (below.name() === "help") continue;
        const found = candidates(program, [...words, below.name()], none);
        expect(found).toContainEqual({ value: below.name(), description: below.description() });
        check(below, [...words, below.name()]);
      }
    };
    check(program, []);
  });

  it("are options that are not there yet, and those that take a value again", () => {
    const program = new Command();
    program.command("run").option("--dry").option("--header <line>").option("--deep");
    expect(valuesAt(program, "run", "--d")).toEqual(["--dry", "--deep"]);
    expect(valuesAt(program, "run", "--dry", "--d")).toEqual(["--deep"]);
    expect(valuesAt(program, "run", "--header", "a", "--h")).toEqual(["--header", "--help"]);
  });

  it("take the value of an option for no command", () => {
    const program = new Command().option("--as <name>");
    program.command("run").command("fast");
    expect(valuesAt(program, "--as", "run", "")).toEqual(["run"]);
    expect(valuesAt(program, "--as", "r")).toEqual([]);
    expect(valuesAt(program, "run", "")).toEqual(["fast"]);
  });

  it("for a stage are those that run, or, for what works on settings, those that have some", async () => {
    const program = await createProgram();
    const running = mkdtempSync(join(tmpdir(), "running-"));
    const system = { pid: process.pid, stack: "income-events-here", region: "r", endpoint: "e" };
    const credentials = { accessKeyId: "a", secretAccessKey: "s" };
    writeFileSync(join(running, "here.json"), JSON.stringify({ ...system, credentials, outputs: {} }));
    const stages = (...words: readonly string[]) =>
      candidates(program, [...words, "--stage", ""], knownValues(running)).map(({ value }) => value);
    expect(stages("status")).toEqual(["here"]);
    expect(stages("mapping", "try", "file")).toEqual(expect.arrayContaining(["dev", "prod"]));
    rmSync(running, { recursive: true });
  });

  it("are queues and subscribers of what runs here, and names of events, kinds, states and failures", async () => {
    const program = await createProgram();
    const running = mkdtempSync(join(tmpdir(), "running-"));
    const system = { pid: process.pid, stack: "income-events-here", region: "r", endpoint: "e" };
    const credentials = { accessKeyId: "a", secretAccessKey: "s" };
    const subscriber = { name: "risk", queueUrl: "q", deadLetterQueueUrl: "d" };
    const outputs = Object.fromEntries(
      ["Users", "Accounts", "Endpoints", "CompanyAccounts", "Fetch", "Erase"].flatMap((name) => [
        [`${name}QueueUrl`, "q"],
        [`${name}DeadLetterQueueUrl`, "d"],
      ]),
    );
    writeFileSync(
      join(running, "here.json"),
      JSON.stringify({
        ...system,
        credentials,
        outputs: { ...outputs, Subscribers: JSON.stringify([subscriber]) },
      }),
    );
    const values = (...words: readonly string[]) =>
      candidates(program, words, knownValues(running)).map(({ value }) => value);
    expect(values("dlq", "show", "")).toEqual(expect.arrayContaining(["users", "fetch", "subscriber/risk"]));
    expect(values("subscribers", "tail", "")).toEqual(["risk"]);
    expect(values("replay", "--subscriber", "r")).toEqual(["risk"]);
    expect(values("events", "list", "--type", "account.c")).toEqual(["account.created", "account.connected"]);
    expect(values("events", "list", "--kind", "u")).toEqual(["users"]);
    expect(values("records", "show", "c")).toEqual(["company-account"]);
    expect(values("sandbox", "fail", "rev")).toEqual(["revoke-token"]);
    rmSync(running, { recursive: true });
  });
});
