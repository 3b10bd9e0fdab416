/**
 * Takes the console screenshots for README and docs: `node scripts/pictures/main.ts --console ADDRESS`, with
 * the URL and token that `npm start` printed. `--only NAMES` takes some of them (comma-separated): the one of
 * dead letters needs some, the overview needs none. `--chromium FILE` selects another browser.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium, type Page } from "playwright-core";

const to = join(import.meta.dirname, "../../docs/operate/pictures");
const { values } = parseArgs({
  options: {
    console: { type: "string", default: "" },
    chromium: { type: "string", default: "/usr/bin/chromium" },
    only: { type: "string" },
  },
});
const { console: address, chromium: executablePath, only } = values;

type Picture = {
  readonly name: string;
  readonly path: string;
  readonly colorScheme: "light" | "dark";
  /** Prepares the page. */
  readonly prepare?: (page: Page) => Promise<void>;
};

const isWell = (page: Page) => page.getByRole("heading", { name: "No problems" }).waitFor();

/** Opens the last event that announced data. */
const toEvent = async (page: Page) => {
  await page
    .getByRole("link", { name: /endpoint/ })
    .first()
    .click();
  await page.getByRole("region", { name: "Progress" }).waitFor();
};

const pictures: readonly Picture[] = [
  { name: "overview-light", path: "/", colorScheme: "light", prepare: isWell },
  { name: "events", path: "/events?since=24h", colorScheme: "light" },
  {
    name: "event",
    path: "/events?since=24h&kind=endpoints&outcome=stored",
    colorScheme: "light",
    prepare: toEvent,
  },
  { name: "dead-letters", path: "/dead-letters", colorScheme: "light" },
  {
    name: "mapping",
    path: "/mapping",
    colorScheme: "light",
    prepare: (page) => page.getByRole("region", { name: "Result" }).getByText("account.connected").waitFor(),
  },
];
const wanted = only === undefined ? pictures : pictures.filter(({ name }) => only.split(",").includes(name));
const viewport = { width: 1280, height: 760 };

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const page = await (await browser.newContext({ viewport })).newPage();
  page.setDefaultTimeout(180_000);
  await page.goto(address);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  for (const { name, path, colorScheme, prepare } of wanted) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.goto(new URL(path, address).href);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByText("Live", { exact: true }).first().waitFor();
    await prepare?.(page);
    // A text that ends in "…" is still loading.
    await page.getByText(/…$/).first().waitFor({ state: "detached" });
    await page.screenshot({ path: join(to, `${name}.png`) });
  }
} finally {
  await browser.close();
}
