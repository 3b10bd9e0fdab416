import { expect, it } from "vitest";
import { logCodes } from "../../functions/runtime/log.ts";
import { originsOfCodes } from "../../scripts/documents/logs-page.ts";

it("each code of the catalogue is logged by a function", () => {
  const origins = originsOfCodes();
  expect([...origins.keys()].sort()).toEqual(Object.keys(logCodes).sort());
  expect(origins.get("EVENT_STORED")).toEqual(["store/*"]);
  expect(origins.get("SUBSCRIBER_PARKED")).toEqual(["erase/subjects", "relay/changes"]);
});
