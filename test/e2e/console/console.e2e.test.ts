import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../packages/sandbox/browser.ts";
import { type OpenedConsole, openConsole, violationsInThemes } from "./opened-console.ts";
import { describeWalk } from "./walk.ts";

const hasBrowser = findChromium() !== undefined || process.env.FORBID_SKIPS !== undefined;

describe.skipIf(!hasBrowser)("a first walk through the console in a browser", () => {
  let opened: OpenedConsole;
  beforeAll(async () => {
    opened = await openConsole();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  describeWalk(() => opened);

  it("has no finding of axe on the event's page, and lets the browser complain of nothing", async () => {
    expect(await violationsInThemes(opened.page)).toEqual([]);
    expect(opened.complaints.filter((text) => !text.includes("status of 404"))).toEqual([]);
  });
});
