/**
 * Takes the pictures of the console that README and docs show. `--help` lists the options.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { chromium } from "playwright-core";

const {
  console: address,
  chromium: executablePath,
  to,
} = new Command("node tools/pictures/main.ts")
  .description(
    "Takes the pictures of the console that README and docs show, of a system that npm start keeps up.",
  )
  .requiredOption("--console <address>", "the address that npm start has printed, with its token")
  .option("--chromium <file>", "the browser", "/usr/bin/chromium")
  .option("--to <folder>", "where to", join(import.meta.dirname, "../../docs/operate/pictures"))
  .parse()
  .opts<{ readonly console: string; readonly chromium: string; readonly to: string }>();

const pictures = [
  { name: "overview-light", path: "/", colorScheme: "light" },
  { name: "overview-dark", path: "/", colorScheme: "dark" },
  { name: "events", path: "/events?since=24h", colorScheme: "light" },
  { name: "mapping", path: "/mapping", colorScheme: "light" },
] as const;
const viewport = { width: 1280, height: 760 };

mkdirSync(to, { recursive: true });
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const page = await (await browser.newContext({ viewport })).newPage();
  page.setDefaultTimeout(180_000);
  await page.goto(address);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  for (const { name, path, colorScheme } of pictures) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.goto(new URL(path, address).href);
    await page.getByRole("heading", { level: 1 }).waitFor();
    // What is still being asked for ends in three dots.
    await page.getByText(/…$/).first().waitFor({ state: "detached" });
    await page.getByText("Live", { exact: true }).first().waitFor();
    await page.screenshot({ path: join(to, `${name}.png`) });
  }
} finally {
  await browser.close();
}
