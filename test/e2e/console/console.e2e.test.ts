import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { clientsOf } from "../../../proof/scenario/clients.ts";
import { findChromium } from "../../packages/sandbox/browser.ts";
import { startTestProvider } from "../../support/test-provider.ts";
import { postWebhook } from "../../support/webhooks.ts";
import {
  authorizationOf,
  type OpenedConsole,
  openConsole,
  stepsOn,
  violationsInThemes,
} from "./opened-console.ts";

const hasBrowser = findChromium() !== undefined || process.env.FORBID_SKIPS !== undefined;

const kinds = ["users", "accounts", "endpoints", "company-accounts"];

const account = "0d1c2b3a-4e5f-4a6b-8c7d-9e8f7a6b5c4d";
const user = "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed";
const someAccount = { account_id: account, user_id: user };

/** Names of adjacent elements in a row that overlap. */
async function overlaps(row: Locator): Promise<readonly string[]> {
  const parts = await row.locator(":scope > *:visible").all();
  const boxes = await Promise.all(
    parts.map(async (part) => ({ text: await part.textContent(), box: await part.boundingBox() })),
  );
  return boxes.flatMap(({ text, box }, index) => {
    const next = boxes[index + 1];
    if (box == null || next?.box == null) return [];
    const isBeside = box.x + box.width <= next.box.x + 1 || box.y + box.height <= next.box.y + 4;
    return isBeside ? [] : [`${text} and ${next.text}`];
  });
}

async function isInView(of: Locator): Promise<boolean> {
  const box = await of.boundingBox();
  return box !== null && box.x >= 0 && box.x + box.width <= 390;
}

describe.skipIf(!hasBrowser)("a first walk through the console in a browser", () => {
  let opened: OpenedConsole;
  beforeAll(async () => {
    opened = await openConsole();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  const { open, panel, press, run } = stepsOn(() => opened);
  const calls = (action: string) => opened.stage.system.stack.gateway.calls().get(`operator ${action}`) ?? 0;

  let eventId = "";
  it("shows a verdict and the pipeline first, and an event as it comes, which is stored", async () => {
    await open("/");
    await panel("Verdict").getByRole("heading", { name: "No problems" }).waitFor();
    await opened.page.getByRole("img", { name: /Webhooks come in/ }).waitFor();
    for (const part of [...kinds, "provider", "table", "relay", "fetch", "erase", "subscriber/everything"])
      await opened.page.locator(`svg [data-node="${part}"]`).waitFor();
    await opened.page.getByRole("link", { name: "Sandbox" }).click();
    await opened.page.getByText("Live", { exact: true }).first().waitFor();
    await opened.page.getByLabel("Type").selectOption("user.created");
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
    const found = opened.page.getByRole("link", { name: new RegExp(eventId.slice(0, 12)) });
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
    await opened.page.getByLabel("Search by id").fill(eventId);
    await press("Find");
    await panel("user.created").waitFor();
    expect(new URL(opened.page.url()).pathname).toBe(`/events/${eventId}`);
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
    await opened.page.getByRole("button", { name: "Show personal data", exact: true }).waitFor();
  });

  it("lists what a part of an id is of, and opens nothing that only shares a log line with it", async () => {
    const { event } = await run("events", "show", eventId);
    const hits = panel("Search results").getByRole("list", { name: "Hits" }).getByRole("listitem");
    const search = async (text: string) => {
      await opened.page.getByLabel("Search by id").fill(text);
      await press("Find");
      await panel("Search results").waitFor();
    };
    await open("/events");
    await opened.page.getByLabel("Search by id").fill("zzzzz");
    await press("Find");
    await opened.page.getByText("Write at least 6 characters of the id.").waitFor();
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
      expect(opened.page.url()).toBe(`${opened.origin}/events?find=${part}`);
    }
    expect(await violationsInThemes(opened.page)).toEqual([]);
    await hits.getByRole("link").first().click();
    await panel("user.created").waitFor();
    expect(await violationsInThemes(opened.page)).toEqual([]);
  });

  const sendUser = (body: object) => send("users", body);
  const send = (kind: string, body: object) => postWebhook(opened.stage.system, kind, body);

  it("shows times as precisely as they are measured, and that something never happened", async () => {
    await open("/");
    const users = panel("Queues in numbers").getByRole("row", { name: /^users / });
    await users.getByText(/^within the last (2 minutes|minute)$/).waitFor();
    await open("/subscribers");
    const lastRead = panel("accounts").locator('dt:text-is("last read") + dd');
    await lastRead.getByText("never in the last 7 days", { exact: true }).waitFor();
  });

  it("lists the latest events' subjects, and each event with its type and subject side by side", async () => {
    await sendUser({ action: "create_user", data: { id: user, metadata: { loan_id: "L-1001" } } });
    await send("accounts", { event: "create_account", ...someAccount, connected: false });
    await send("endpoints", { event: "update_endpoint", ...someAccount, endpoint: "employment" });
    const recent = panel("Recent users and accounts");
    const listed = async () => {
      await open("/records");
      await recent
        .getByRole("link", { name: /^user / })
        .first()
        .waitFor();
      const names = [`account ${account}`, `user ${user}`];
      return Promise.all(names.map((name) => recent.getByRole("link", { name, exact: true }).count()));
    };
    await expect.poll(listed).toEqual([1, 1]);
    await recent.getByRole("row", { name: new RegExp(`^user ${user} loanId \\(text\\) `) }).waitFor();
    const row = panel("History")
      .getByRole("link", { name: /endpoint\.updated employment/ })
      .filter({ hasText: `account/${account}` });
    // The page shows the account's digest until the account's state is stored.
    const shown = async () => {
      await open("/events");
      await panel("History").getByRole("link").first().waitFor();
      return row.count();
    };
    await expect.poll(shown, { interval: 1_000 }).toBeGreaterThan(0);
    for (const width of [1360, 390]) {
      await opened.page.setViewportSize({ width, height: 900 });
      await row.first().waitFor();
      for (const text of ["endpoint.updated employment", `account/${account}`])
        await row.first().getByText(text, { exact: true }).waitFor();
      expect(await overlaps(row.first())).toEqual([]);
    }
    await opened.page.setViewportSize({ width: 1280, height: 900 });
  });

  it("masks a user's attributes in the list, on the user's page and in the API, until somebody asks to see them", async () => {
    const { page, origin, stage } = opened;
    const headers = await authorizationOf(page);
    for (const path of [`states?subject=user/${user}`, `record?kind=user&id=${user}`]) {
      const answer = await page.request.get(`${origin}/api/${path}`, { headers });
      expect(await answer.text()).toContain('"loanId":"(text)"');
    }
    const looks = async () => (await stage.run(["audit", "list", "--act", "reveal", "--user", user])).stdout;
    for (const [path, name] of [
      ["/records", "Recent users and accounts"],
      [`/records?kind=user&id=${user}`, `user/${user}`],
    ] as const) {
      const before = (await looks()).split("attributes of user").length;
      await open(path);
      await panel(name).getByText("(text)").first().waitFor();
      await panel(name).getByRole("button", { name: "Show personal data" }).click();
      await panel(name).getByText("L-1001").first().waitFor();
      expect((await looks()).split("attributes of user")).toHaveLength(before + 1);
      await panel(name).getByRole("button", { name: "Hide", exact: true }).click();
      await panel(name).getByText("(text)").first().waitFor();
      expect(await panel(name).textContent()).not.toContain("L-1001");
    }
    await open("/records?find=L-1001");
    const hit = panel("Search results").getByRole("listitem");
    await hit.filter({ hasText: `user ${user} loanId` }).waitFor();
  });

  it("lists refused webhooks by reason and source, shows the latency, and resends an event's messages", async () => {
    const { stack } = opened.stage.system;
    for (const _ of [1, 2])
      expect((await fetch(`${stack.apiUrl}/webhooks/accounts`, { method: "POST", body: "{}" })).status).toBe(
        401,
      );
    const refused = panel("Refused webhooks").getByRole("row", { name: /^secret accounts 127\.0\.0\.1 2 / });
    const isListed = async () => {
      await open("/events");
      await panel("Refused webhooks").getByRole("table").waitFor();
      return refused.count();
    };
    await expect.poll(isListed, { interval: 1_000 }).toBe(1);
    await panel("History")
      .getByRole("link", { name: /user\.created/ })
      .first()
      .click();
    await panel("Resend").getByRole("button", { name: "Resend", exact: true }).click();
    await panel("Resend")
      .getByText(/^Sent: [1-9]\d* messages?, with the same ids\.$/)
      .waitFor();
    await open("/");
    for (const name of ["to subscriber p50, 15 min", "to subscriber p99, 15 min"])
      await panel("Pipeline")
        .locator(`dt:text-is("${name}") + dd`)
        .getByText(/^\d+\.\d s$/)
        .waitFor();
  });

  it("lists a subscriber's deliveries with their events, and keeps each filter in the address", async () => {
    const { page } = opened;
    const rows = panel("Messages and attempts").getByRole("row");
    const sent = rows.filter({ has: page.getByRole("link", { name: "user.created", exact: true }) });
    await open("/subscribers");
    await panel("everything").getByRole("link", { name: "Messages and attempts" }).click();
    await sent.filter({ hasText: "sent" }).filter({ hasText: user }).first().waitFor();
    await panel("Messages and attempts").getByLabel("Outcome").selectOption("replayed");
    expect(new URL(page.url()).search).toBe("?outcome=replayed");
    await page.reload();
    await rows
      .filter({ hasText: /replayed.*by arn:/ })
      .first()
      .waitFor();
    expect(await sent.count()).toBe(0);
    await open("/mapping");
    await page.getByRole("combobox", { name: "Kind" }).selectOption("users");
    await page.reload();
    await expect
      .poll(() => page.getByRole("textbox", { name: "Webhook" }).inputValue())
      .toContain("create_user");
  });

  it("shows at 390 px each page in the menu, names in one line, and a dead letter with its reason and its next step", async () => {
    await sendUser({ action: "sing", data: { id: user } });
    await opened.page.setViewportSize({ width: 390, height: 844 });
    await open("/");
    for (const link of await opened.page.getByRole("navigation").getByRole("link").all())
      expect(await isInView(link)).toBe(true);
    const name = panel("Queues in numbers").getByText("subscriber/everything", { exact: true });
    await name.waitFor();
    expect((await name.boundingBox())?.height).toBeLessThan(30);
    const deadLetters = panel("Dead letters of users");
    const reason = deadLetters.getByText('type: mapping.types translates no event name "sing"').first();
    const isThere = async () => {
      await open("/dead-letters?queue=users");
      await deadLetters
        .getByText(/^users event$|^No dead letters in the queue/)
        .first()
        .waitFor();
      return reason.count();
    };
    await expect.poll(isThere).toBe(1);
    expect(await isInView(reason)).toBe(true);
    expect(await deadLetters.getByRole("button", { name: /^Redrive (it|these)/ }).count()).toBe(0);
    const commands = deadLetters.locator(".command code");
    expect(await commands.allTextContents()).toEqual(["npx income-events dlq show users"]);
    await reason.click();
    // A masked body still shows whom it is about.
    await deadLetters.getByText(`"id": "${user}"`).waitFor();
    expect(await violationsInThemes(opened.page)).toEqual([]);
    await panel("The dead letter").getByRole("link", { name: "Open in Mapping" }).click();
    await opened.page.getByRole("button", { name: "Load the dead letter's body" }).click();
    await panel("Result")
      .getByText(/^No event: type: /)
      .waitFor();
    await opened.page.setViewportSize({ width: 1280, height: 900 });
  });

  it("lists each cause with its consequences, and other problems separately", async () => {
    const { stage } = opened;
    await stage.run(["sandbox", "fail", "503"]);
    await open("/");
    const verdict = panel("Verdict");
    const others = verdict.getByRole("region", { name: "Also wrong", exact: true });
    const isCounted = async () => {
      const findings = await others.locator(":scope > ul > li").count();
      const heading = others.getByRole("heading", { name: `Also wrong (${findings})`, exact: true });
      return findings > 0 && (await heading.count()) === 1;
    };
    await expect.poll(isCounted).toBe(true);
    const cause = (await verdict.getByRole("heading", { level: 2 }).textContent()) ?? "";
    const consequences = (of: string) =>
      verdict.getByRole("list", { name: of, exact: true }).getByRole("listitem");
    await consequences(`Consequences of: ${cause}`).first().waitFor();
    expect(cause).toMatch(/provider/);
    const texts = await consequences(`Consequences of: ${cause}`).allTextContents();
    expect(texts.filter((text) => text.includes("dead letter"))).toEqual([]);
    const users = others.getByRole("listitem").filter({ hasText: /^users has 1 dead letter/ });
    await users.getByRole("link", { name: "Open dead letters" }).waitFor();
    expect(await violationsInThemes(opened.page)).toEqual([]);
    await stage.run(["sandbox", "heal"]);
  });

  it("reveals nothing that opens the console to a server on another port", async () => {
    const { context, origin, page } = opened;
    const server = await startTestProvider();
    onTestFinished(() => server.close());
    server.answer = () => ({
      headers: { "content-type": "text/html" },
      text: "<!doctype html><title>Another server</title>",
    });
    const other = await context.newPage();
    onTestFinished(() => other.close());
    await other.goto(server.url);
    const kept = await other.evaluate("[document.cookie, { ...localStorage }, { ...sessionStorage }]");
    expect(kept).toEqual(["", {}, {}]);
    expect(server.requests.length).toBeGreaterThan(0);
    for (const { headers: sent } of server.requests) {
      const { cookie = "", authorization = "" } = sent;
      const answer = await fetch(`${origin}/api/stage`, { headers: { cookie, authorization } });
      expect(answer.status).toBe(401);
    }
    // The browser stays signed in, also in another tab and after a reload.
    await other.goto(`${origin}/`);
    await other.reload();
    await other.getByRole("heading", { name: "Overview" }).waitFor();
    expect(await context.cookies()).toEqual([]);
    // A used URL does not end its session.
    await other.goto(`${origin}/#token=used`);
    await expect.poll(() => other.url()).toBe(`${origin}/`);
    await other.getByRole("heading", { name: "Overview" }).waitFor();
    expect(new URL(page.url()).hash).toBe("");
  });

  it("counts the dead letters that a redrive does not fix, and shows one's personal data on request, then hides it", async () => {
    const { page, origin, stage } = opened;
    using clients = clientsOf(stage.system.access);
    const body = JSON.stringify({ holder: "Ada Lovelace" });
    await sqsSender(clients.sqs)(
      stage.output("CompanyAccountsDeadLetterQueueUrl"),
      ["it names nobody", "type: mapping.types translates nothing"].map((reason) => ({ body, reason })),
    );
    await page.goto(`${origin}/dead-letters?queue=company-accounts`);
    const all = page.getByRole("region", { name: "Dead letters of company-accounts", exact: true });
    await all.getByRole("button", { name: "Redrive these 2" }).waitFor();
    await all.getByText(/^1 of them would fail again\./).waitFor();
    await page.getByRole("button").filter({ hasText: "it names nobody" }).click();
    const letter = page.getByRole("region", { name: "The dead letter", exact: true });
    await letter.getByRole("region", { name: "The body, masked", exact: true }).waitFor();
    expect(await letter.textContent()).not.toContain("Ada Lovelace");
    await letter.getByRole("button", { name: "Show personal data" }).click();
    await letter.getByText("Ada Lovelace").waitFor();
    await letter.getByRole("button", { name: "Hide", exact: true }).click();
    await letter.getByRole("button", { name: "Show personal data" }).waitFor();
    expect(await letter.textContent()).not.toContain("Ada Lovelace");
  });

  it("causes no error in the browser", () => {
    expect(opened.complaints.filter((text) => !text.includes("status of 404"))).toEqual([]);
  });
});
