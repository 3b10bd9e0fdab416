import { expect, it } from "vitest";
import { z } from "zod";
import { readBodies } from "../../../proof/scenario/snapshot.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import { sendFollowed } from "../../support/webhooks.ts";
import { type OpenedConsole, stepsOn } from "./opened-console.ts";

const sent = z.object({ id: z.string() });
const shown = z.object({ event: z.object({ companyAccountId: z.string() }) });
const published = z.object({
  id: z.string(),
  type: z.string(),
  subject: z.string(),
  correlationid: z.string(),
});
const logged = z.object({
  entries: z.array(
    z.looseObject({
      code: z.string(),
      requestId: z.string(),
      messageId: z.string().optional(),
      correlationIds: z.array(z.string()).default([]),
    }),
  ),
});

/** Searching by any id. */
export function describeSearch(use: () => OpenedConsole): void {
  const { output, panel, run } = stepsOn(use);
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
    const linesOf = async () =>
      logged
        .safeParse(await run("logs", event))
        .data?.entries.find(({ code }) => code === "MESSAGE_REJECTED");
    await expect.poll(linesOf).toBeDefined();
    return { event, message: (await linesOf())?.messageId ?? "" };
  };

  it("finds events, users, accounts, correlations, messages and requests by id", async () => {
    const { stage, page } = use();
    const { users, accounts } = await stage.system.sandbox.createUsers(1);
    await waitUntilIdle(stage.system);
    const [user = "", account = ""] = [users[0], accounts[0]];
    const about = ["--user", user, "--account", account];
    const { id: event } = sent.parse(await run("trigger", "endpoint.updated", "income", ...about));
    await waitUntilIdle(stage.system);
    const stored = logged.parse(await run("logs", event)).entries.find(({ code }) => code === "EVENT_STORED");
    const message = await messageAbout(account);
    const dead = await rejected();
    const company = sent.parse(await run("trigger", "company-account.connected"));
    await waitUntilIdle(stage.system);
    const { companyAccountId } = shown.parse(await run("events", "show", company.id)).event;
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
    const [dataRequest = "", deadMessage] = [stored?.requestId, dead.message];
    for (const [text, hit, opens] of [
      [account.slice(9, 23), `account ${account}`, ofAccount],
      [deadMessage, `message ${deadMessage}`, { path: `/events/${dead.event}`, shows: "Timeline" }],
      [
        dataRequest.slice(4, 18),
        `request ${dataRequest}`,
        { path: `/events/${stored?.correlationIds[0]}`, shows: "Timeline" },
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
