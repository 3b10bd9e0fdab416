import { expect, it } from "vitest";
import { webhookSecretOf } from "../../support/operator.ts";
import { type OpenedConsole, violationsInThemes } from "./opened-console.ts";

/** What a person reads at the first look, of a stage that is well and of one where two things are wrong. */
export function describeFirstLook(use: () => OpenedConsole): void {
  const open = (path: string) => use().page.goto(`${use().origin}${path}`);
  const panel = (name: string) => use().page.getByRole("region", { name, exact: true });
  const sendUser = async (body: object) => {
    const { stack } = use().stage.system;
    const secret = await webhookSecretOf(stack);
    const headers = {
      "content-type": "application/json",
      [stack.outputs.WebhookSecretHeader ?? ""]: secret,
    };
    await fetch(`${stack.apiUrl}/webhooks/users`, { method: "POST", headers, body: JSON.stringify(body) });
  };

  it("says when something happened as precisely as it is measured, and that something never did", async () => {
    await open("/");
    const users = panel("Queues in numbers").getByRole("row", { name: /^users / });
    await users.getByText(/^within the last (2 minutes|minute)$/).waitFor();
    await open("/subscribers");
    const lastRead = panel("accounts").locator('dt:text-is("last read") + dd');
    await lastRead.getByText("never in the last 7 days", { exact: true }).waitFor();
  });

  it("names each cause with its own consequences, and apart from it what else is wrong", async () => {
    const { stage } = use();
    await sendUser({ action: "sing", data: { id: "9c858901-8a57-4791-81fe-4c455b099bc9" } });
    await stage.run(["sandbox", "fail", "503"]);
    await open("/");
    const verdict = panel("Verdict");
    const others = verdict.getByRole("region", { name: "Also wrong", exact: true });
    await others.getByRole("heading", { name: "Also wrong (1)" }).waitFor();
    const cause = (await verdict.getByRole("heading", { level: 2 }).textContent()) ?? "";
    const consequences = (of: string) =>
      verdict.getByRole("list", { name: of, exact: true }).getByRole("listitem");
    await consequences(`Consequences of: ${cause}`).first().waitFor();
    expect(cause).toMatch(/provider/);
    const texts = await consequences(`Consequences of: ${cause}`).allTextContents();
    expect(texts.filter((text) => text.includes("dead letter"))).toEqual([]);
    await others.getByText(/^users has 1 dead letter/).waitFor();
    expect(await violationsInThemes(use().page)).toEqual([]);
    await stage.run(["sandbox", "heal"]);
  });
}
