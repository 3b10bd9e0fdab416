import { expect, it } from "vitest";
import { z } from "zod";
import { type OpenedConsole, stepsOn, violationsInThemes } from "./opened-console.ts";

const shown = z.object({ event: z.object({ userId: z.string() }) });
const kinds = ["users", "accounts", "endpoints", "company-accounts"];

/**
 * A first walk through the console: the overview, a triggered event, and that event's page.
 * @returns the id of the event, once it was triggered
 */
export function describeWalk(opened: () => OpenedConsole): () => string {
  const page = () => opened().page;
  const { open, panel, press, run } = stepsOn(opened);
  const calls = (action: string) =>
    opened().stage.system.stack.gateway.calls().get(`operator ${action}`) ?? 0;

  let eventId = "";
  it("shows a verdict and the pipeline first, and an event as it comes, which is stored", async () => {
    await open("/");
    await panel("Verdict").getByRole("heading", { name: "No problems" }).waitFor();
    await page()
      .getByRole("img", { name: /Webhooks come in/ })
      .waitFor();
    for (const part of [...kinds, "provider", "table", "relay", "fetch", "erase", "subscriber/everything"])
      await page().locator(`svg [data-node="${part}"]`).waitFor();
    await page().getByRole("link", { name: "Sandbox" }).click();
    await page().getByText("Live", { exact: true }).first().waitFor();
    await page().getByLabel("Type").selectOption("user.created");
    await press("Trigger");
    const said = panel("Trigger an event").getByText(/The event's id is/);
    await said.waitFor();
    eventId = /id is ([\w-]{43})/.exec((await said.textContent()) ?? "")?.[1] ?? "";
    await panel("Latest events").getByText("applied").first().waitFor();
    expect(await run("events", "show", eventId)).toMatchObject({
      event: { id: eventId, type: "user.created" },
    });
  });

  it("finds the event in its history and by its id, and shows its body once somebody asks, which is logged", async () => {
    await open("/events?since=15m&kind=users");
    const found = page().getByRole("link", { name: new RegExp(eventId.slice(0, 12)) });
    await found.waitFor();
    await panel("History").getByLabel("Type").selectOption("user.created");
    await panel("History")
      .getByText(/^\d+ of \d+ events, from the functions' logs\.$/)
      .waitFor();
    await panel("History").getByLabel("Text in the id").fill(eventId.slice(4, 12));
    await panel("History")
      .getByText(/^1 of \d+ events/)
      .waitFor();
    const scans = calls("dynamodb:Scan");
    await found.click();
    await panel("user.created").waitFor();
    await open("/events");
    await page().getByLabel("Search by id").fill(eventId);
    await press("Find");
    await panel("user.created").waitFor();
    expect(new URL(page().url()).pathname).toBe(`/events/${eventId}`);
    // The logs name the subject, so a query finds it.
    expect(calls("dynamodb:Scan")).toBe(scans);
    await panel("Progress").getByText("stored").waitFor();
    // Times are in the reader's time zone.
    expect(await panel("Progress").textContent()).not.toMatch(/\d-\d\dT\d/);
    await panel("Timeline").getByText("stored", { exact: true }).waitFor();
    await panel("Body").getByText("create_user").waitFor();
    const acts = async () => JSON.stringify(await run("audit", "list"));
    expect(await acts()).not.toContain("reveal");
    await press("Show personal data");
    await panel("The body").waitFor();
    expect(await acts()).toContain("reveal");
    await press("Hide");
    await panel("The body, masked").waitFor();
    expect(await panel("The body").count()).toBe(0);
    await page().getByRole("button", { name: "Show personal data", exact: true }).waitFor();
  });

  it("lists what a part of an id is of, and opens nothing that only shares a log line with it", async () => {
    const { event } = shown.parse(await run("events", "show", eventId));
    const hits = panel("Search results").getByRole("list", { name: "Hits" }).getByRole("listitem");
    const search = async (text: string) => {
      await page().getByLabel("Search by id").fill(text);
      await press("Find");
      await panel("Search results").waitFor();
    };
    await open("/events");
    await page().getByLabel("Search by id").fill("zzzzz");
    await press("Find");
    await page().getByText("Write at least 6 characters of the id.").waitFor();
    await search("zzzzzz");
    await panel("Search results")
      .getByText(/^zzzzzz not found/)
      .waitFor();
    for (const [type, id, part] of [
      ["user", event.userId, event.userId.slice(9, 23)],
      ["event", eventId, eventId.slice(5, 15)],
    ] as const) {
      await search(part);
      await hits.filter({ hasText: `${type} ${id}` }).waitFor();
      expect(await hits.count()).toBe(1);
      expect(page().url()).toBe(`${opened().origin}/events?find=${part}`);
    }
    expect(await violationsInThemes(page())).toEqual([]);
    await hits.getByRole("link").first().click();
    await panel("user.created").waitFor();
    expect(await violationsInThemes(page())).toEqual([]);
  });
  return () => eventId;
}
