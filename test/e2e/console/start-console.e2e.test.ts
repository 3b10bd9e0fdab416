import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { enterConsole } from "../../support/console-session.ts";
import { runProgram } from "../../support/program.ts";
import { synthesizeProduct } from "../../support/running-product.ts";

const freePorts = ["--ports", "auto"];

describe("npm start", () => {
  it("serves the console at the printed URL, opens nothing, and leaves nothing running after a kill", async () => {
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
        ...["--json", file, ...page, ...freePorts],
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
    await program.printed(`Console       ${url}`);
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
