import { randomBytes } from "node:crypto";
import type { LocalFunction } from "@income-events/local-stack/stack.ts";
import { expect, it } from "vitest";
import { z } from "zod";
import { readBodies } from "../../../proof/scenario/snapshot.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import { sendFollowed } from "../../support/webhooks.ts";
import { type OpenedConsole, stepsOn } from "./opened-console.ts";

const published = z.object({
  id: z.string(),
  type: z.string(),
  subject: z.string(),
  correlationid: z.string(),
});
type Line = { readonly code: string; readonly messageId?: string };

/** Searching the history, and by any id. */
export function describeHistory(use: () => OpenedConsole): void {
  const { open, output, panel, run } = stepsOn(use);
  const history = () => panel("History");
  const rows = () => history().getByRole("region", { name: "Events, the newest first" }).getByRole("link");
  const counted = async () =>
    /^([\d,]+) of/.exec((await history().getByRole("status").textContent()) ?? "")?.[1];

  it("filters the history by outcome, endpoint, account, user and time, and each is kept in the address", async () => {
    const { stage, page } = use();
    const { users, accounts } = await stage.system.sandbox.createUsers(1);
    await waitUntilIdle(stage.system);
    const about = ["--user", users[0] ?? "", "--account", accounts[0] ?? ""];
    const { id } = await stage.json("trigger", "endpoint.updated", "income", ...about);
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

  const search = async (id: string) => {
    await use().page.goto(`${use().origin}/events`);
    await use().page.getByLabel("Search by id").fill(`  ${id} `);
    await use().page.getByRole("button", { name: "Find", exact: true }).click();
  };
  /** A message to subscribers about an account's data. */
  const messageAbout = async (account: string) => {
    const bodies = await readBodies(use().stage.system.access, output("SubscriberEverythingQueueUrl"));
    return bodies
      .flatMap((body) => published.safeParse(JSON.parse(body)).data ?? [])
      .find(({ type, subject }) => type === "data.updated" && subject.startsWith(`account/${account}/`));
  };
  /** An event that no mapping accepts, which its store rejects. */
  const rejected = async () => {
    const event = await sendFollowed(use().stage.system, "users", { event: "no_such_event" });
    const lineOf = async () =>
      (await run("logs", event)).entries.find(({ code }: Line) => code === "MESSAGE_REJECTED");
    await expect.poll(lineOf).toBeDefined();
    return { event, message: (await lineOf()).messageId };
  };

  it("finds events, users, accounts, correlations, messages and requests by id", async () => {
    const { stage, page } = use();
    const { users, accounts } = await stage.system.sandbox.createUsers(1);
    await waitUntilIdle(stage.system);
    const [user = "", account = ""] = [users[0], accounts[0]];
    const about = ["--user", user, "--account", account];
    const { id: event } = await run("trigger", "endpoint.updated", "income", ...about);
    await waitUntilIdle(stage.system);
    const { entries } = await run("logs", event);
    const stored = entries.find(({ code }: Line) => code === "EVENT_STORED");
    const message = await messageAbout(account);
    const dead = await rejected();
    const company = await run("trigger", "company-account.connected");
    await waitUntilIdle(stage.system);
    const { companyAccountId } = (await run("events", "show", company.id)).event;
    const ofAccount = { path: "/records", shows: `account/${account}` };
    for (const [kind, id, { path, shows }] of [
      ["event", event, { path: `/events/${event}`, shows: "endpoint.updated" }],
      ["user", user, { path: "/records", shows: `user/${user}` }],
      ["account", account.toUpperCase(), ofAccount],
      [
        "company account",
        companyAccountId,
        { path: "/records", shows: `company-account/${companyAccountId}` },
      ],
      [
        "correlation",
        message?.correlationid,
        { path: `/events/${message?.correlationid}`, shows: "Progress" },
      ],
      ["a subscriber's message", message?.id, ofAccount],
    ] as const) {
      await search(id ?? "");
      await panel(shows).waitFor();
      expect({ kind, path: new URL(page.url()).pathname }).toEqual({ kind, path });
    }
    const [dataRequest, deadMessage] = [stored.requestId, dead.message];
    for (const [text, hit, opens] of [
      [account.slice(9, 23), `account ${account}`, ofAccount],
      [deadMessage, `message ${deadMessage}`, { path: `/events/${dead.event}`, shows: "Timeline" }],
      [
        dataRequest.slice(4, 18),
        `request ${dataRequest}`,
        { path: `/events/${stored.correlationIds[0]}`, shows: "Timeline" },
      ],
    ] as const) {
      await search(text);
      const found = panel("Search results").getByRole("listitem").filter({ hasText: hit });
      await found.getByRole("link").first().click();
      await panel(opens.shows).waitFor();
      expect(new URL(page.url()).pathname).toBe(opens.path);
    }
    await page.goto(`${use().origin}/records?kind=company-account&id=${companyAccountId}`);
    await panel(`company-account/${companyAccountId}`).getByText("connected", { exact: true }).waitFor();
    await search("00000000-0000-4000-8000-000000000000");
    await page.getByText(/^00000000-\S+ not found/).waitFor();
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
