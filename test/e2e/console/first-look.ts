import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { postWebhook } from "../../support/webhooks.ts";
import { authorizationOf, type OpenedConsole, stepsOn, violationsInThemes } from "./opened-console.ts";

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

/** The overview of a healthy stage, and of one with two problems. */
export function describeFirstLook(use: () => OpenedConsole): void {
  const { open, panel } = stepsOn(use);
  const sendUser = (body: object) => send("users", body);
  const send = (kind: string, body: object) => postWebhook(use().stage.system, kind, body);

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
      await use().page.setViewportSize({ width, height: 900 });
      await row.first().waitFor();
      for (const text of ["endpoint.updated employment", `account/${account}`])
        await row.first().getByText(text, { exact: true }).waitFor();
      expect(await overlaps(row.first())).toEqual([]);
    }
    await use().page.setViewportSize({ width: 1280, height: 900 });
  });

  it("masks a user's attributes in the list, on the user's page and in the API, until somebody asks to see them", async () => {
    const { page, origin, stage } = use();
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
    const { stack } = use().stage.system;
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
    const { page } = use();
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
    await use().page.setViewportSize({ width: 390, height: 844 });
    await open("/");
    for (const link of await use().page.getByRole("navigation").getByRole("link").all())
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
    expect(await violationsInThemes(use().page)).toEqual([]);
    await panel("The dead letter").getByRole("link", { name: "Open in Mapping" }).click();
    await use().page.getByRole("button", { name: "Load the dead letter's body" }).click();
    await panel("Result")
      .getByText(/^No event: type: /)
      .waitFor();
    await use().page.setViewportSize({ width: 1280, height: 900 });
  });

  it("lists each cause with its consequences, and other problems separately", async () => {
    const { stage } = use();
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
    expect(await violationsInThemes(use().page)).toEqual([]);
    await stage.run(["sandbox", "heal"]);
  });
}
