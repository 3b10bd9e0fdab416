import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writePrivateFile } from "@income-events/local-stack/private-file.ts";
import { afterEach, beforeEach, expect, it } from "vitest";

let file = "";
beforeEach(async () => {
  file = join(await mkdtemp(join(tmpdir(), "private-")), "addresses.json");
});
afterEach(() => rm(join(file, ".."), { recursive: true }));

it.each(["new", "there already, and readable for others,"])(
  "a file that is %s is readable for its owner alone",
  async (state) => {
    if (state !== "new") {
      await writeFile(file, "a text that is longer than the next one");
      await chmod(file, 0o644);
    }
    await writePrivateFile(file, "keys");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, "utf8")).toBe("keys");
  },
);

it("a device keeps its mode", async () => {
  const { mode } = await stat("/dev/null");
  await writePrivateFile("/dev/null", "keys");
  expect((await stat("/dev/null")).mode).toBe(mode);
});
