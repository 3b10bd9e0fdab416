import { beforeAll, describe, expect, it } from "vitest";
import type { LookedUpStage } from "./looked-up-stage.ts";

/** The sandbox's `loan_id` is the attribute `loanId` of the local stage. */
export function describeAttributes(use: () => LookedUpStage): void {
  describe("attributes of users", () => {
    let stage: LookedUpStage;
    let [user, account, company] = ["", "", ""];
    beforeAll(() => {
      stage = use();
      ({ user, account, company } = stage);
    });
    const show = async (...args: string[]) =>
      (await stage.run(["records", "show", ...args, "--json"])).json();

    it("records find finds a user by one, and events show masks it", async () => {
      const find = (attribute: string) => stage.run(["records", "find", "--attribute", attribute, "--json"]);
      expect((await find("loanId=L-1001")).json()).toMatchObject({ users: [{ id: user, deleted: false }] });
      expect((await find("loanId=nobody")).json()).toMatchObject({ users: [] });
      expect(await find("loanId")).toMatchObject({ code: 2, stdout: "" });
      const created =
        (await stage.storedEvents()).find(
          ({ event }) => event.type === "user.created" && event.userId === user,
        )?.event.id ?? "";
      const shown = await stage.run(["events", "show", created, "--user", user, "--json"]);
      expect(shown.stdout).not.toContain("L-1001");
      expect(shown.json()).toMatchObject({ event: { attributes: { loanId: "(text)" } } });
    });

    it("masks its user's attributes until they are revealed", async () => {
      for (const [kind, id] of [
        ["user", user],
        ["account", account],
        ["company-account", company],
      ] as const) {
        expect(await show(kind, id)).toMatchObject({ attributes: { loanId: "(text)" } });
        const revealed = await show(kind, id, "--reveal");
        expect(revealed).toMatchObject({ attributes: { loanId: "L-1001" } });
      }
      const { stdout } = await stage.run(["records", "show", "user", user]);
      expect(stdout).toContain("\nattributes: loanId=(text)\n");
    });
  });
}
