import { brotliCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { loadSettings, packSettings, unpackSettings } from "../../../../lib/settings/settings.ts";
import { settingsDifferences } from "../../../../packages/cli/doctor/settings-check.ts";

test("settings that differ are named, each with what is deployed and what the file says", () => {
  const deployed = { provider: { rate: 60, paths: ["a", "b"] }, subscribers: [{ name: "all" }], gone: true };
  const file = { provider: { rate: 30, paths: ["a"] }, subscribers: [{ name: "all", types: ["data.*"] }] };
  expect(settingsDifferences(deployed, file)).toEqual([
    { setting: "gone", deployed: "true" },
    { setting: "provider.paths", deployed: '["a","b"]', file: '["a"]' },
    { setting: "provider.rate", deployed: "60", file: "30" },
    { setting: "subscribers[0].types", file: '["data.*"]' },
  ]);
  expect(settingsDifferences(deployed, deployed)).toEqual([]);
});

test("a stage's settings fit into an output, and come out of it as they were", () => {
  const settings = loadSettings("local", "stages");
  const packed = packSettings(settings);
  expect(packed?.length).toBeLessThan(4_000);
  expect(packed).toMatch(/^[\w-]+$/);
  expect(settingsDifferences(unpackSettings(packed ?? ""), settings)).toEqual([]);
});

test.each(["", "no settings", brotliCompressSync("x".repeat(1_000_001)).toString("base64url")])(
  "of an output that holds no settings nothing is known: %#",
  (packed) => {
    expect(unpackSettings(packed)).toBeUndefined();
  },
);

test("settings that are too many for an output are left out of it", () => {
  const settings = loadSettings("local", "stages");
  const subscribers = Array.from({ length: 2_000 }, (_, index) => ({
    ...settings.subscribers[0],
    name: `s${index * 7_919}${Math.sin(index)}`,
  }));
  expect(packSettings(Object.assign({}, settings, { subscribers }))).toBeUndefined();
});
