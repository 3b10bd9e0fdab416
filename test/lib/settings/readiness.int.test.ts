import { describe, expect, it } from "vitest";
import { parseSettings } from "../../../lib/settings/settings.ts";
import { messageOf } from "./settings-in-error.ts";

describe("what accounts wait for", () => {
  const income = { readRange: { income: "/a/{account_id}/{date_start}/{date_end}" } };

  it.each<[object, object, string]>([
    [{}, {}, "readiness.endpoints: is missing; write a list: […]"],
    [{ endpoints: [] }, {}, "readiness.endpoints: is []; name at least one endpoint"],
    [{ endpoints: ["a", "a"] }, {}, 'readiness.endpoints: is ["a","a"]; name each endpoint once'],
    [{ endpoints: ["in come"] }, {}, 'readiness.endpoints.0: is "in come"; write an endpoint\'s name'],
    [
      { endpoints: ["a"], deadlineHours: 241 },
      {},
      "readiness.deadlineHours: is 241; set it to a whole number",
    ],
    [
      { endpoints: ["income"], minDays: 0 },
      {},
      "readiness.minDays: is 0; set it to a whole number from 1 to",
    ],
    [{ endpoints: ["profile"], minDays: 90 }, {}, "readiness.minDays: counts the days of income"],
    [{ endpoints: ["income"] }, income, "readiness.endpoints: has one that provider.paths.readRange reads"],
  ])("is refused if it is %j with the paths %j", (readiness, paths, fault) => {
    const settings = { production: false, readiness, provider: { paths } };
    const [, ...faults] = messageOf(() => parseSettings(settings, "f.json")).split("\n");
    expect(faults).toEqual([expect.stringContaining(fault)]);
  });

  it("has a deadline of one day by default, even with ranges of other endpoints", () => {
    const provider = { paths: income };
    const settings = parseSettings(
      { production: false, provider, readiness: { endpoints: ["profile"] } },
      "f",
    );
    expect(settings.readiness).toEqual({ endpoints: ["profile"], deadlineHours: 24, users: "all" });
  });
});
