import { expect, it } from "vitest";
import { waitUntilIdle } from "../../support/eventually.ts";
import type { OperatedStage } from "../../support/operated-stage.ts";
import { authorizationOf, type OpenedConsole, stepsOn } from "./opened-console.ts";

/**
 * Users of a stage that keeps versions: an account with three versions of its income, and a user to erase.
 */
export type People = {
  readonly user: string;
  readonly account: string;
  readonly toErase: string;
  /** Events that led to its later two versions, earlier first. */
  readonly events: readonly string[];
  /** URLs of their pages. */
  readonly addresses: readonly string[];
};

export async function startPeople(stage: OperatedStage): Promise<People> {
  const { sandbox } = stage.system;
  const { users, accounts } = await sandbox.createUsers(2);
  const [[user = "", toErase = ""], [account = ""]] = [users, accounts];
  await waitUntilIdle(stage.system);
  const events: string[] = [];
  for (const _ of ["the second version", "the third"]) {
    sandbox.fetchData(account, ["income"]);
    await waitUntilIdle(stage.system);
    const { events: stored } = await stage.json("events", "list", "--account", account);
    events.push(stored.find(({ endpoint }: { endpoint?: string }) => endpoint === "income").id);
  }
  const { document } = await stage.json("documents", "get", "account", account, "income");
  const ofAccount = `kind=account&id=${account}`;
  return {
    ...{ user, account, toErase, events },
    addresses: [
      `/records?kind=user&id=${user}`,
      `/records?${ofAccount}`,
      `/records/document?${ofAccount}&endpoint=income&version=${document.version}`,
      `/events/${events[1]}?account=${account}`,
    ],
  };
}

/** Pages of users and accounts. */
export function describePeople(use: () => { readonly opened: OpenedConsole; readonly people: People }): void {
  const { open, panel, run } = stepsOn(() => use().opened);
  const actsOf = async (act: string) => (await run("audit", "list", "--act", act)).acts;
  const incomeOf = () => run("documents", "get", "account", use().people.account, "income", "--reveal");

  it("shows a document masked, with what changed in it, and once it is revealed its values", async () => {
    const { page } = use().opened;
    const { data: income } = await incomeOf();
    await open(`/records?kind=account&id=${use().people.account}`);
    await panel("Documents").getByText("2 older versions").click();
    const versions = panel("Documents").getByRole("list", { name: "Versions of income", exact: true });
    await expect.poll(() => versions.getByRole("link").count()).toBe(3);
    await versions.getByRole("link").first().click();
    await panel("Data, masked").getByText('"net": "(text)"').waitFor();
    const last = income.data.at(-1);
    const index = income.data.length - 1;
    await panel("Changes, masked")
      .getByRole("rowheader", { name: `data[${index}]`, exact: true })
      .waitFor();
    expect(await page.locator("main").textContent()).not.toContain(last?.net);
    const address = page.url().replace("/records/document", "/api/document");
    const masked = await page.request.get(address, { headers: await authorizationOf(page) });
    expect(masked.ok()).toBe(true);
    expect(await masked.text()).not.toContain(last?.net);
    const before = (await actsOf("reveal")).length;
    await panel("Data, masked").getByRole("button", { name: "Show personal data" }).click();
    await panel("Data").getByText(`"net": "${last?.net}"`).waitFor();
    expect(await actsOf("reveal")).toHaveLength(before + 1);
    const revision = panel("Changes").getByRole("row", { name: /^revision changed/ });
    expect(await revision.getByRole("cell").allTextContents()).toEqual([
      ...["changed", String(income.revision - 1), String(income.revision)],
    ]);
    await panel("Data").getByRole("button", { name: "Hide", exact: true }).click();
    await panel("Data, masked").waitFor();
    await panel("Changes, masked").waitFor();
    expect(await page.locator("main").textContent()).not.toContain(last?.net);
  });

  it("leads from an event to the version that it led to, and shows what changed by it", async () => {
    const { page } = use().opened;
    const { account, events } = use().people;
    const { document, data: income } = await incomeOf();
    await open(`/events/${events[1]}?account=${account}`);
    await panel("Document").getByText(`This event led to income, version ${document.version}.`).waitFor();
    const added = `data[${income.data.length - 1}]`;
    await panel("Changes, masked").getByRole("rowheader", { name: added, exact: true }).waitFor();
    await panel("Document").getByRole("link").click();
    await panel("income").getByText("· newest").waitFor();
    expect(new URL(page.url()).searchParams.get("version")).toBe(document.version);
    await open(`/events/${events[0]}?account=${account}`);
    await panel("Document").getByRole("link").click();
    await panel("income").getByRole("link", { name: /UTC/ }).last().waitFor();
    const earlier = new URL(page.url()).searchParams.get("version") ?? "";
    expect(Number(earlier)).toBeLessThan(Number(document.version));
    await panel("income").getByRole("link", { name: /UTC/ }).last().click();
    await panel("Changes, masked").getByText("No previous version is retained.").waitFor();
    const shown = await run("events", "show", events[0] ?? "", "--account", account);
    expect(shown).toMatchObject({ document: { version: earlier, isOfEvent: true } });
  });

  it("leads from an account to its events, and shows a user's documents with those of the accounts", async () => {
    const { user, account } = use().people;
    await open(`/records?kind=account&id=${account}`);
    await panel(`account/${account}`).getByRole("link", { name: "Events", exact: true }).click();
    const rows = panel("Events, the newest first").getByRole("link");
    const { events } = await run("events", "list", "--account", account);
    const ofAccount = events.filter(({ type }: { type: string }) => type.startsWith("account."));
    for (const { type, state, outcome = state } of ofAccount)
      await rows.filter({ hasText: type }).getByText(outcome, { exact: true }).first().waitFor();
    await rows.filter({ hasText: "account.updated" }).first().click();
    await panel("account.updated").waitFor();
    await open(`/records?kind=user&id=${user}`);
    await panel("Documents").getByText(account, { exact: true }).first().waitFor();
  });

  it("erases whom a legal hold is on once a reason is given and the id is typed, and keeps the reason", async () => {
    const { stage } = use().opened;
    const { toErase } = use().people;
    await run("hold", "set", "user", toErase, "--reason", "<b>case 17</b>");
    await open(`/records?kind=user&id=${toErase}`);
    const erase = panel("Erase");
    await erase.getByText(/A legal hold is on the user .*: <b>case 17<\/b>/).waitFor();
    const button = erase.getByRole("button", { name: "Erase this user despite the hold" });
    expect(await button.isDisabled()).toBe(true);
    await erase.getByLabel(/Reason for the audit trail/).fill("the court said so");
    await button.click();
    await erase.getByLabel(/to confirm/).fill(toErase);
    await button.click();
    await erase.getByText(/^Erased: \d+\. /).waitFor();
    expect((await stage.run(["records", "show", "user", toErase])).code).toBe(4);
    expect(await actsOf("erase")).toContainEqual(expect.objectContaining({ reason: "the court said so" }));
  });
}
