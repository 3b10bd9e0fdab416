import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";

/** The system's Chromium: `CHROMIUM`, or the first on the PATH. */
export function findChromium(): string | undefined {
  const named = process.env.CHROMIUM;
  const places = (process.env.PATH ?? "").split(delimiter);
  const candidates = places.flatMap((place) => [join(place, "chromium"), join(place, "chromium-browser")]);
  return [...(named === undefined ? [] : [named]), ...candidates].find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** One browser for a file's tests; each page is a new session, closed with its test. */
export function useBrowser(executablePath: string | undefined): () => Promise<Page> {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (executablePath === undefined) return;
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  });
  afterAll(async () => {
    await browser?.close();
  });
  return async () => {
    if (browser === undefined)
      throw new Error("no browser was found: install Chromium, or name it in CHROMIUM");
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    return context.newPage();
  };
}
