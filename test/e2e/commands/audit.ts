import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { waitUntilIdle } from "../../support/eventually.ts";
import type { OperatedStage } from "../../support/operated-stage.ts";

const audit = z.object({
  acts: z.array(
    z.strictObject({
      id: z.string(),
      at: z.iso.datetime(),
      who: z.string(),
      act: z.string(),
      target: z.string(),
      subject: z.string().optional(),
      outcome: z.string(),
      count: z.number().optional(),
    }),
  ),
});

/** Operators' actions and their audit trail. */
export function describeAudit(use: () => OperatedStage): void {
  describe("what operators do", () => {
    let stage: OperatedStage;
    let user: string;
    let account: string;
    beforeAll(async () => {
      stage = use();
      const { users, accounts } = await stage.system.sandbox.createUsers(1);
      [user = "", account = ""] = [users[0], accounts[0]];
      await waitUntilIdle(stage.system);
    });

    const run = async (line: string, input?: string) => {
      const result = await stage.run(line.split(" "), input === undefined ? {} : { input });
      expect(result, `${line}: ${result.stderr}`).toMatchObject({ code: 0 });
      return result;
    };
    const trail = async (flags = "") => audit.parse((await run(`audit list --json${flags}`)).json()).acts;
    const newest = async () => (await trail(" --limit 1"))[0];
    /** Creates a dead letter: the provider refuses to return the data. */
    const makeDeadLetter = async () => {
      const { sandbox } = stage.system;
      sandbox.fault({ path: `/api/v0.4/accounts/${account}/income`, status: 422 });
      sandbox.fetchData(account, ["income"]);
      await waitUntilIdle(stage.system);
      sandbox.clearFaults();
    };

    it("is recorded before and after, with the caller's ARN, time, action and count", async () => {
      const before = new Date().toISOString();
      await run("token refresh --now");
      const act = await newest();
      expect(act).toMatchObject({ act: "token", target: "refresh", outcome: "done", count: 1 });
      expect(act?.who).toBe("arn:aws:iam::000000000000:user/operator");
      expect(act && act.at >= before).toBe(true);
    });

    it("is in the trail: token, reveal, redrive, purge, replay and secret, but no reads", async () => {
      await makeDeadLetter();
      const known = (await trail()).length;
      await run("status");
      await run(`records show account ${account}`);
      await run(`events list --user ${user}`);
      await run("dlq show fetch");
      await run("replay --all-subscribers --dry-run");
      expect(await trail()).toHaveLength(known);

      await run("token set", await stage.system.sandbox.issueToken(7_200));
      expect(await newest()).toMatchObject({ act: "token", target: "set", count: 1 });
      await run(`records show account ${account} --reveal`);
      expect(await newest()).toMatchObject({ act: "reveal", target: "data of account" });
      expect((await newest())?.count).toBeGreaterThan(2);
      await run("dlq show fetch --reveal");
      expect(await newest()).toMatchObject({ act: "reveal", target: "dead letters of fetch", count: 1 });
      await run("dlq redrive fetch");
      expect(await newest()).toMatchObject({ act: "redrive", target: "fetch", count: 1 });
      await makeDeadLetter();
      await run("dlq purge fetch --yes");
      expect(await newest()).toMatchObject({ act: "purge", target: "fetch", count: 1 });
      await run(`replay --subscriber everything --user ${user}`);
      expect(await newest()).toMatchObject({ act: "replay", target: "everything", outcome: "done" });
      await run("secret rotate --revoke-now --yes");
      expect(await newest()).toMatchObject({ act: "secret", target: "revoke", count: 1 });
    });

    it("is recorded as failed if it fails, and is not done if it cannot be recorded", async () => {
      const refused = await stage.run(["token", "set", "--any"], { input: "opaque" });
      expect(refused.code).toBe(1);
      expect(await newest()).toMatchObject({ act: "token", outcome: "failed" });
      const known = await trail();
      const stop = stage.system.stack.gateway.intercept(async ({ action, body }, phase) =>
        phase === "before" && action === "dynamodb:PutItem" && body.includes("AUDIT")
          ? { status: 400, errorType: "AccessDeniedException", message: "not allowed" }
          : undefined,
      );
      const revealed = await stage.run(["records", "show", "account", account, "--reveal"]);
      stop();
      expect(revealed).toMatchObject({ code: 3, stdout: "" });
      expect(await trail()).toEqual(known);
    });

    it("fetches documents again, of all endpoints or one, and shows the provider's last answers", async () => {
      const { sandbox } = stage.system;
      const calls = () => sandbox.calls().filter(({ path }) => path.includes(`/accounts/${account}/`)).length;
      const before = calls();
      const all = Object((await run(`fetch account ${account} --json`)).json());
      expect(all.documents).toBeGreaterThan(2);
      await waitUntilIdle(stage.system);
      expect(calls() - before).toBeGreaterThanOrEqual(all.documents);
      const once = calls();
      await run(`fetch account ${account.toUpperCase()} income`);
      await waitUntilIdle(stage.system);
      expect(calls()).toBeGreaterThan(once);
      const { stdout } = await run("status --section provider");
      expect(stdout).toMatch(/last answers +succeeded: \d+, 422: \d+ \(in 15 minutes\)/);
      expect(await stage.run(["fetch", "account", user])).toMatchObject({ code: 4 });
      expect(await stage.run(["fetch", "account", account, "no name"])).toMatchObject({ code: 2 });
    });

    it("keeps acts about an erased user, found by the id, which is not in the trail", async () => {
      const known = await trail(` --user ${user}`);
      expect(known.map(({ act }) => act)).toEqual(["replay"]);
      await run(`erase user ${user} --yes`);
      const about = await trail(` --user ${user}`);
      expect(about.map(({ act, count }) => [act, count])).toEqual([
        ["erase", 2],
        ["replay", known[0]?.count],
      ]);
      expect((await trail(` --account ${account} --act reveal`)).length).toBe(1);
      const text = JSON.stringify(await trail());
      for (const id of [user, account]) expect(text).not.toContain(id);
      const beginning = await stage.run(["audit", "list", "--user", user.slice(0, 8)]);
      expect(beginning).toMatchObject({ code: 2, stderr: expect.stringContaining("Write the whole id") });
      expect((await run("audit list")).stdout).toMatch(/^AT +WHO +ACT +TARGET +ABOUT +COUNT +OUTCOME\n/);
    });
  });
}
