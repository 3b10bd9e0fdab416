import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { shellWords } from "../../support/command-line.ts";
import { enterConsole } from "../../support/console-session.ts";
import { fastEngine } from "../../support/engines.ts";
import { runProgram } from "../../support/program.ts";
import { synthesizeProduct } from "../../support/running-product.ts";

const freePorts = ["--ports", "auto"];

/** Sends the webhook of the `curl` command in an output. @returns the answer's status */
async function sendShown(output: string): Promise<number> {
  const [, command = ""] = /(curl (?:.*\\\n)*.*)/.exec(output) ?? [];
  const words = shellWords(command.replace(/^curl/, "npx"));
  const valuesOf = (flag: string) => words.filter((_, index) => words[index - 1] === flag);
  const headers = valuesOf("-H").map((line): [string, string] => {
    const [name = "", value = ""] = line.split(": ");
    return [name, value];
  });
  const url = words.find((word) => word.startsWith("http")) ?? "";
  return (await fetch(url, { method: "POST", headers, body: valuesOf("-d")[0] ?? "" })).status;
}

describe("npm start", () => {
  it("prints the console's URL, a webhook that is accepted and little else, opens nothing, and leaves nothing running after a kill", async () => {
    await using product = await synthesizeProduct();
    const directory = await mkdtemp(join(tmpdir(), "start-console-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const file = join(directory, "with-console.json");
    // Browser openers write their name instead of opening a browser.
    for (const opener of [
      "xdg-open",
      "open",
      "sensible-browser",
      "x-www-browser",
      "chromium",
      "google-chrome",
      "firefox",
    ])
      await writeFile(join(directory, opener), `#!/bin/sh\ntouch "${directory}/opened-$(basename "$0")"\n`, {
        mode: 0o755,
      });
    const page = ["--console", "packages/cli/main.ts"];
    await using program = runProgram(
      "packages/local-stack/start.ts",
      [
        ...["--assembly", product.directory, "--users", "1", "--logs", join(directory, "logs")],
        ...["--json", file, "--engine", await fastEngine(), ...page, ...freePorts],
      ],
      { PATH: `${directory}:${process.env.PATH}`, DISPLAY: ":0", BROWSER: join(directory, "xdg-open") },
    );
    await program.printed("Ctrl-C ends it.");
    const written = z
      .object({ console: z.object({ url: z.url() }) })
      .parse(JSON.parse(await readFile(file, "utf8")));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { url } = written.console;
    const stage = await fetch(new URL("/api/stage", url), { headers: await enterConsole(url) });
    expect(await stage.json()).toMatchObject({ stage: "local", isLocal: true, isWritable: true });
    // Progress lines are for terminals only.
    const lines = program.output().trim().split("\n");
    expect(lines[0]).toContain(`Console       ${url}`);
    expect(lines.length).toBeLessThanOrEqual(20);
    expect(await sendShown(program.output())).toBe(202);
    expect((await readdir(directory)).filter((name) => name.startsWith("opened-"))).toEqual([]);
    program.signal("SIGKILL");
    await expect
      .poll(() =>
        fetch(url).then(
          () => "answers",
          () => "ended",
        ),
      )
      .toBe("ended");
  });
});
