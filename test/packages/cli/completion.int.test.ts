import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runInProcess } from "../../support/in-process.ts";

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

/** Bash's completions from the function that is registered for the first word. */
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
    expect(bashCompletes("income-events", "token", "")).toEqual(["set", "refresh"]);
    expect(bashCompletes("income-events", "token", "refresh", "--n")).toEqual(["--now"]);
    expect(bashCompletes("income-events", "erase", "status", "--sta")).toEqual(["--stage"]);
  });

  it("completes after npx too, and leaves what else npx runs alone", () => {
    expect(bashCompletes("npx", "income-events", "webhooks", "r")).toEqual(["register"]);
    expect(bashCompletes("npx", "cdk", "de")).toEqual([]);
    expect(bashCompletes("npx", "in")).toEqual([]);
  });

  it("leaves names of files to the shell, and evaluates no word", () => {
    expect(bashCompletes("income-events", "status", "--outputs", "")).toEqual([]);
    const trap = join(directory, "trap");
    expect(bashCompletes("income-events", "events", `$(touch ${trap})`, "li")).toEqual(["list"]);
    expect(bashCompletes("income-events", "events", `$(touch ${trap})`)).toEqual([]);
    expect(existsSync(trap)).toBe(false);
  });
});

it("zsh uses bash's script, and fish gets each command and option with its description", async () => {
  const zsh = await runInProcess(["completion", "zsh"]);
  expect(zsh.stdout).toMatch(/^autoload -U \+X bashcompinit && bashcompinit\n_income_events\(\)/);
  const fish = await runInProcess(["completion", "fish"]);
  expect(fish.stdout).toContain("case 'token refresh *'");
  expect(fish.stdout).toContain("'--json\tprint the result as one line of JSON'");
});

it("no other shell has one", async () => {
  expect(await runInProcess(["completion", "tcsh"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("tcsh: write one of bash, zsh, fish.\n"),
  });
});
