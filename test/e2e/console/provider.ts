import { expect, it } from "vitest";
import { z } from "zod";
import { registerAtProvider } from "../../support/webhooks.ts";
import { type OpenedConsole, stepsOn } from "./opened-console.ts";

const provided = z.object({ requestsPerMinute: z.number() });
const issued = z.object({ token: z.string() });
const elsewhere = "https://other.example/users";

/** The provider's page and its actions. */
export function describeProvider(use: () => OpenedConsole): void {
  const { open, panel } = stepsOn(use);
  const fact = (of: string, name: string) => panel(of).locator(`dt:text-is("${name}") + dd`);

  /** Issues a token: the first one may be revoked by now. */
  const newToken = async () =>
    issued.parse((await use().stage.run(["sandbox", "token", "--json"])).json()).token;

  it("reports a webhook that is registered elsewhere, and registers it here with a button", async () => {
    const { sandbox } = use().stage.system;
    const should = sandbox.webhook("users")?.url ?? "";
    await registerAtProvider(use().stage.system, "users", { url: elsewhere });
    await open("/provider");
    const row = panel("Webhook registrations")
      .getByRole("row")
      .filter({ has: use().page.getByRole("rowheader", { name: "users", exact: true }) });
    const cells = () => row.getByRole("cell").allTextContents();
    await expect.poll(cells).toEqual(["elsewhere", elsewhere, should]);
    await panel("Webhook registrations").getByRole("button", { name: "Register here" }).click();
    await panel("Webhook registrations").getByText("Registered: 4 kinds.").waitFor();
    await expect.poll(cells).toEqual(["here", should]);
    expect(sandbox.webhook("users")?.url).toBe(should);
  });

  it("shows who stored the token, and the calls made out of those that the rate allows", async () => {
    const { stage } = use();
    expect((await stage.run(["token", "set"], { input: await newToken() })).code).toBe(0);
    await open("/provider");
    await fact("Token", "stored by").getByText("an operator").waitFor();
    await panel("Token").getByRole("button", { name: "Refresh now" }).click();
    await fact("Token", "stored by").getByText("a refresh").waitFor();
    for (const name of ["issued", "ends"]) await fact("Token", name).locator("time").first().waitFor();
    const { requestsPerMinute } = provided.parse(
      (await stage.run(["status", "--section", "provider", "--json"])).json(),
    );
    const calls = (await fact("Calls", "last minute").textContent()) ?? "";
    const [, made = "", allowed = ""] = /([\d,]+) of ([\d,]+) calls/.exec(calls) ?? [];
    expect(Number(allowed.replaceAll(",", ""))).toBe(requestsPerMinute);
    expect(Number(made)).toBeGreaterThan(0);
  });
}
