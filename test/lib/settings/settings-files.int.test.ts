import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadSettings, parseSettings, settingsDigest } from "../../../lib/settings/settings.ts";
import { productionSettings } from "../synthesized.ts";
import { messageOf, settingsInError } from "./settings-in-error.ts";

const stages = join(import.meta.dirname, "../../../stages");

describe("settings files", () => {
  const directory = mkdtempSync(join(tmpdir(), "income-events-settings-"));
  afterAll(() => rmSync(directory, { recursive: true }));

  it.each(["dev", "local"])("of stage %s are valid", (stage) => {
    expect(loadSettings(stage, stages).production).toBe(false);
  });

  it("of stage prod lack only the provider's address, and whom alarms notify", () => {
    const message = messageOf(() => loadSettings("prod", stages));
    expect(message.split("\n")).toHaveLength(3);
    expect(message).toContain("provider.baseUrls.production: is a placeholder");
    expect(message).toContain("alarms: notify nobody");
  });

  it("elsewhere are read in place of the stage's", () => {
    const file = join(directory, "other.json");
    writeFileSync(file, JSON.stringify({ production: false, retention: { eventsDays: 77 } }));
    expect(loadSettings("prod", stages, file).retention.eventsDays).toBe(77);
  });

  it("that are missing are named with the way to give others", () => {
    const message = messageOf(() => loadSettings("nowhere", stages));
    expect(message).toContain("nowhere.json");
    expect(message).toContain("-c settings=FILE");
  });

  it("that are no JSON are named", () => {
    const file = join(directory, "broken.json");
    writeFileSync(file, "{");
    expect(messageOf(() => loadSettings("dev", stages, file))).toContain(`${file}: not JSON`);
  });
});

describe("settings files as an editor on Windows writes them", () => {
  const directory = mkdtempSync(join(tmpdir(), "settings of windows "));
  afterAll(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "stage.json");
  const read = (text: string) => {
    writeFileSync(file, text);
    return loadSettings("test", directory, file);
  };
  const asWindows = (text: string) => `\uFEFF${text.replaceAll("\n", "\r\n")}`;
  /** Formatted over several lines, as a person writes it. */
  const linesOf = (written: object) => JSON.stringify({ production: false, ...written }, undefined, 2);

  it("are the same settings", () => {
    for (const name of readdirSync(stages).filter((each) => each !== "prod.json")) {
      const text = readFileSync(join(stages, name), "utf8");
      expect(read(asWindows(text))).toEqual(read(text));
    }
  });

  it("are refused in the same words", () => {
    for (const [_, written] of settingsInError) {
      const text = linesOf(written);
      const message = messageOf(() => read(text));
      expect(message).toContain(file);
      expect(messageOf(() => read(asWindows(text)))).toBe(message);
    }
  });

  it("are refused in the same words if they are invalid JSON, with the same line and column", () => {
    const text = linesOf({ tracing: "off" }).replace(",", "");
    const message = messageOf(() => read(text));
    expect(message).toMatch(/not JSON \(.*line 3 column \d+/);
    expect(messageOf(() => read(asWindows(text)))).toBe(message);
  });
});

describe("the digest of settings", () => {
  const digestOf = (settings: object) =>
    settingsDigest(parseSettings({ ...productionSettings, ...settings }, "test"));

  it("is the same for the same settings, whether a default is written or not", () => {
    expect(digestOf({})).toBe(digestOf({}));
    expect(digestOf({ token: { refreshEveryMinutes: 15 } })).toBe(digestOf({}));
  });

  it("differs if anything else differs", () => {
    const others = [
      { token: { refreshEveryMinutes: 16 } },
      { startEndpoints: ["profile"] },
      { subscribers: [] },
    ];
    const digests = [{}, ...others].map(digestOf);
    expect(new Set(digests).size).toBe(digests.length);
  });
});
