import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { webhookEventTypes } from "../../../domain/event/events.ts";
import { failureNames } from "../../../packages/cli/commands/sandbox.ts";
import { type OperatedStage, startOperatedStage } from "../../support/operated-stage.ts";

/** A running stage with a sandbox that commands make fail. */
describe("the sandbox of a local system", () => {
  let operated: OperatedStage;
  beforeAll(async () => {
    operated = await startOperatedStage("sandboxed", {}, { delivery: { firstRetryMs: 200 } });
  });
  afterAll(() => operated?.[Symbol.asyncDispose]());

  /** @param patience milliseconds; shorter than calls that hang or are endlessly slow */
  const users = async (patience = 500) => {
    const { sandbox } = operated.system;
    const authorization = `Bearer ${await sandbox.issueToken()}`;
    return fetch(`${sandbox.baseUrl}/api/v0.4/users`, {
      headers: { authorization },
      redirect: "manual",
      signal: AbortSignal.timeout(patience),
    });
  };
  const json = async (...args: readonly string[]) => {
    const result = await operated.run([...args, "--json"]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    return Object(result.json());
  };

  it.each([
    ["503", 503],
    ["429", 429],
    ["202", 202],
    ["gzip", 200],
    ["redirect", 302],
  ])("answers %s on request, until it is healed", async (how, status) => {
    await json("sandbox", "fail", how);
    expect((await users()).status).toBe(status);
    await json("sandbox", "heal");
    expect((await users()).status).toBe(200);
  });

  it.each(["hang", "slow", "malformed", "maintenance", "empty", "cut"])(
    "fails as %s, until it is healed",
    async (how) => {
      await json("sandbox", "fail", how);
      await expect(users().then((answer) => answer.json())).rejects.toThrow();
      await json("sandbox", "heal");
      expect(await (await users()).json()).toBeInstanceOf(Array);
    },
  );

  it("refuses an unknown failure, listing the known ones", async () => {
    expect(await operated.run(["sandbox", "fail", "fire"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(failureNames.join(", ")),
    });
    expect(await operated.run(["sandbox", "fail", "drop", "--for", "2m"])).toMatchObject({ code: 2 });
    expect(await operated.run(["sandbox", "advance", "soon"])).toMatchObject({ code: 2 });
  });

  it.each(webhookEventTypes)("is not affected by trigger, whose %s arrives as that event", async (type) => {
    const { id, body } = await json("trigger", type);
    await expect
      .poll(async () => (await operated.run(["events", "show", id])).stdout)
      .toContain(`${type} of `);
    expect(JSON.stringify(body)).toMatch(/_user|_account|_endpoint/);
  });

  it("is not affected by trigger with an unknown event or id", async () => {
    expect(await operated.run(["trigger", "account.gone"])).toMatchObject({ code: 2 });
    expect(await operated.run(["trigger", "user.created", "--user", "9c858901"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("not a UUID"),
    });
  });
});
