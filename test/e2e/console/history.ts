import { randomBytes } from "node:crypto";
import type { LocalFunction } from "@income-events/local-stack/stack.ts";
import { expect, it } from "vitest";
import { z } from "zod";
import { waitUntilIdle } from "../../support/eventually.ts";
import { type OpenedConsole, stepsOn } from "./opened-console.ts";

const sent = z.object({ id: z.string() });

/** Searching the history. */
export function describeHistory(use: () => OpenedConsole): void {
  const { open } = stepsOn(use);
  const history = () => use().page.getByRole("region", { name: "History", exact: true });
  const rows = () => history().getByRole("region", { name: "Events, the newest first" }).getByRole("link");
  const counted = async () =>
    /^([\d,]+) of/.exec((await history().getByRole("status").textContent()) ?? "")?.[1];

  it("filters the history by outcome, endpoint, account, user and time, and each is kept in the address", async () => {
    const { stage, page } = use();
    const { users, accounts } = await stage.system.sandbox.createUsers(1);
    await waitUntilIdle(stage.system);
    const about = ["--user", users[0] ?? "", "--account", accounts[0] ?? ""];
    const trigger = await stage.run(["trigger", "endpoint.updated", "income", ...about, "--json"]);
    const { id } = sent.parse(trigger.json());
    await waitUntilIdle(stage.system);
    await open("/events?since=1h");
    await rows().first().waitFor();
    await history().getByLabel("Outcome").selectOption("stored");
    await history()
      .getByRole("combobox", { name: /^Endpoint/ })
      .selectOption("income");
    const texts = async () => (await rows().allTextContents()).map((text) => text.replaceAll(/\s+/g, " "));
    await expect
      .poll(async () => (await texts()).every((text) => /stored ?endpoint\.updated income/.test(text)))
      .toBe(true);
    expect(await rows().count()).toBeGreaterThan(0);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      ...{ since: "1h", outcome: "stored", endpoint: "income" },
    });
    await open(`/events?since=1h&account=${accounts[0]}`);
    await history()
      .getByText(/from the table\.$/)
      .waitFor();
    await rows()
      .filter({ hasText: id.slice(0, 12) })
      .waitFor();
    for (const [until, count] of [
      ["15m", 0],
      ["", 1],
    ] as const) {
      await open(`/events?since=1h&user=${users[0]}&until=${until}`);
      await history()
        .getByText(/^\d+ of \d+ events, from the table\.$/)
        .waitFor();
      const created = rows().filter({ hasText: "user.created" });
      await expect.poll(() => created.count()).toBe(count);
    }
    await open(`/events?since=1h&text=${accounts[0]}`);
    await history()
      .getByText(/from the functions' logs\.$/)
      .waitFor();
    await rows()
      .filter({ hasText: id.slice(0, 12) })
      .waitFor();
    for (const link of await rows().all())
      expect(await link.getAttribute("href")).toContain(`account=${accounts[0]}`);
  });

  it("gets the rows of a long history as they are seen, to the last one, which its filter finds", async () => {
    const { stage, page } = use();
    addStored(stage.system.stack.functions, 1_700);
    await open("/events?since=1h&kind=users");
    await rows().first().waitFor();
    const asked: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/api/events?")) asked.push(request.url());
    });
    const list = history().getByRole("region", { name: "Events, the newest first" });
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    const count = Number((await counted())?.replaceAll(",", ""));
    expect(count).toBeGreaterThanOrEqual(1_700);
    const last = list.getByRole("listitem").last();
    await last.getByRole("link").waitFor();
    // The tail may have requested some events first.
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    expect(asked.some((url) => Number(new URL(url).searchParams.get("offset")) >= 1_500)).toBe(true);
    // Only visible rows are rendered.
    expect(await list.getByRole("listitem").count()).toBeLessThan(100);
    const href = (await last.getByRole("link").getAttribute("href")) ?? "";
    const id = decodeURIComponent(href.split("/")[2]?.split("?")[0] ?? "");
    await history().getByLabel("Text in the id or subject").fill(id);
    await expect.poll(counted).toBe("1");
    await rows()
      .filter({ hasText: id.slice(0, 12) })
      .waitFor();
  });
}

/** Logs this many stored users within the last hour. */
function addStored(functions: readonly LocalFunction[], count: number): void {
  const store = functions.find(({ logicalId }) => logicalId.includes("UsersStore"));
  const line = store?.log().find((each) => each.includes("EVENT_STORED"));
  if (store === undefined || line === undefined) throw new Error("nothing was stored yet");
  const sample = z.looseObject({ timestamp: z.string() }).parse(JSON.parse(line));
  for (let index = 0; index < count; index++) {
    const before = Math.floor(((count - index) / count) * 3_000_000);
    const timestamp = new Date(Date.parse(sample.timestamp) - before).toISOString();
    const correlationIds = [randomBytes(32).toString("base64url")];
    store.addToLog(JSON.stringify({ ...sample, timestamp, correlationIds }));
  }
}
