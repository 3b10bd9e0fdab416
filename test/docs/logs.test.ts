import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { logCodes } from "../../functions/runtime/log.ts";
import { originsOfCodes } from "../../scripts/documents/log-origins.ts";
import { remedies } from "../../scripts/documents/log-remedies.ts";
import { logsPage } from "../../scripts/documents/logs-page.ts";

const root = join(import.meta.dirname, "..", "..");

it("the page of the logs is what the code says", () => {
  expect(readFileSync(join(root, "docs/reference/logs.md"), "utf8")).toBe(logsPage());
});

it("each code is logged by a function: none is left over in the catalogue", () => {
  const origins = originsOfCodes();
  expect(
    Object.keys(logCodes).filter((code) => ![...origins.keys()].some((known) => known === code)),
  ).toEqual([]);
  expect(origins.get("EVENT_STORED")).toEqual(["store/*"]);
  expect(origins.get("SUBSCRIBER_PARKED")).toEqual(["erase/subjects", "relay/changes"]);
});

it("what is to be done about a code is a command or a setting that there is", () => {
  const commands = readFileSync(join(root, "docs/reference/commands.md"), "utf8");
  const settings = readFileSync(join(root, "docs/reference/settings.md"), "utf8");
  const named = Object.values(remedies).flatMap((text) => [
    ...text.matchAll(/`([a-z]+ [a-z]+|[a-z]+\.[A-Za-z]+)/g),
  ]);
  expect(named.length).toBeGreaterThan(10);
  const unknown = named.filter(([, name = ""]) => !`${commands}${settings}`.includes(name));
  expect(unknown.map(([, name]) => name)).toEqual([]);
});
