import { subscribersOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createReader, inMemory } from "../../../packages/subscriber/index.ts";
import { readBodies } from "../../../proof/scenario/snapshot.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import type { OperatedStage } from "../../support/operated-stage.ts";
import { runProgram } from "../../support/program.ts";

const message = z.looseObject({
  id: z.string(),
  type: z.string(),
  subject: z.string(),
  sequence: z.string(),
  replayid: z.string().optional(),
  data: z.looseObject({ connected: z.boolean().optional() }).optional(),
});
const replayed = z.looseObject({
  replayId: z.string().optional(),
  messages: z.number(),
  sent: z.record(z.string(), z.number()),
  pending: z.number(),
});

/** Messages of a replay. */
export function describeReplay(use: () => OperatedStage): void {
  let operated: OperatedStage;
  let system: System;
  let user: string;
  let account: string;
  const idle = () => waitUntilIdle(system);
  const queueOf = (name: string) =>
    subscribersOf(system.stack).find((each) => each.name === name)?.queueUrl ?? "";
  /** Takes all messages out of a subscriber's queue. */
  const drain = async (name: string) => {
    const bodies = await readBodies(system.access, queueOf(name));
    return bodies.map((body) => message.parse(JSON.parse(body)));
  };
  const replay = async (...flags: string[]) => {
    const run = await operated.run(["replay", "--json", ...flags]);
    return { ...run, result: run.stdout === "" ? undefined : replayed.parse(run.json()) };
  };
  const idsOf = (messages: readonly { id: string }[]) => messages.map(({ id }) => id).toSorted();

  describe("replay", () => {
    let original: z.output<typeof message>[];
    beforeAll(async () => {
      operated = use();
      ({ system } = operated);
      await drain("everything");
      const { users, accounts } = await system.sandbox.createUsers(1);
      [user = "", account = ""] = [users[0], accounts[0]].map(String);
      // Enough for a replay that is killed halfway.
      await system.sandbox.createUsers(3);
      await idle();
      original = await drain("everything");
      await drain("accounts");
    });
    const ofUser = () => original.filter(({ subject }) => [user, account].some((id) => subject.includes(id)));

    it("sends a user's messages to one subscriber again, with their ids and the replay's own", async () => {
      const dry = await replay("--subscriber", "everything", "--user", user, "--dry-run");
      expect(dry).toMatchObject({ code: 0, stderr: "" });
      expect(await drain("everything")).toEqual([]);

      const { code, result: done } = await replay("--subscriber", "everything", "--user", user);
      expect(code).toBe(0);
      const messages = await drain("everything");
      const latest = ofUser().filter(
        ({ id, type }) => !type.endsWith(".confirmed") || idsOf(messages).includes(id),
      );
      expect(idsOf(messages)).toEqual(idsOf(latest));
      expect(done).toMatchObject({
        messages: messages.length,
        sent: { everything: messages.length },
        pending: 0,
      });
      expect(dry.result).toMatchObject({ messages: messages.length, sent: { everything: messages.length } });
      expect(new Set(messages.map(({ replayid }) => replayid))).toEqual(new Set([done?.replayId]));
      expect(await drain("accounts")).toEqual([]);
    });

    it("asks for confirmation before all subscribers get messages again", async () => {
      const flags = ["--all-subscribers", "--user", user];
      expect(await replay(...flags)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/2 subscribers .* everything, accounts/),
      });
      expect([...(await drain("everything")), ...(await drain("accounts"))]).toEqual([]);
      const { result: done } = await replay(...flags, "--yes");
      const counts = {
        everything: (await drain("everything")).length,
        accounts: (await drain("accounts")).length,
      };
      expect(done?.sent).toEqual(counts);
      expect(counts.everything).toBeGreaterThan(counts.accounts);
    });

    it("that is killed resumes by its id, and is deleted when it is done", async () => {
      await replay("--subscriber", "everything");
      const whole = await drain("everything");
      expect(whole.length).toBeGreaterThan(20);
      const flags = ["--subscriber", "everything", "--rate", "2", "--stage", "repair"];
      await using running = runProgram("packages/cli/main.ts", ["replay", ...flags]);
      const first: typeof whole = [];
      await expect.poll(async () => first.push(...(await drain("everything")))).toBeGreaterThan(0);
      running.signal("SIGKILL");
      await running.ended;
      const [, id = ""] = /--resume (\S+)/.exec(running.output()) ?? [];
      first.push(...(await drain("everything")));
      expect(first.length).toBeLessThan(whole.length);

      expect(await replay("--resume", id, "--user", user)).toMatchObject({ code: 2 });
      expect(await replay("--resume", id, "--rate", "1000")).toMatchObject({
        code: 0,
        result: { replayId: id },
      });
      const rest = await drain("everything");
      expect(new Set([...first, ...rest].map(({ replayid }) => replayid))).toEqual(new Set([id]));
      expect([...new Set(idsOf([...first, ...rest]))]).toEqual(idsOf(whole));
      expect(rest.length).toBeLessThan(whole.length);
      expect(await replay("--resume", id)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("No interrupted replay"),
      });
    });

    it("that comes after live messages leaves a reader with their content, though it was read before them", async () => {
      const isHeld = Promise.withResolvers<void>();
      const isAnnounced = Promise.withResolvers<void>();
      const isAboutAccount = (body: Buffer) => body.includes(`account/${account}\\"`);
      const end = system.stack.gateway.intercept(async ({ principal, action, body }, phase) => {
        const isReplay = principal === "operator" && action === "sqs:SendMessageBatch" && phase === "before";
        if (!isReplay || !isAboutAccount(body)) return undefined;
        isHeld.resolve();
        await isAnnounced.promise;
        return undefined;
      });
      const replaying = replay("--subscriber", "everything", "--account", account);
      await isHeld.promise;
      system.sandbox.disconnectAccount(account);
      await idle();
      const live = await drain("everything");
      isAnnounced.resolve();
      expect(await replaying).toMatchObject({ code: 0 });
      end();
      const late = await drain("everything");

      const connections = (messages: typeof live) =>
        messages.flatMap(({ subject, data }) => (subject === `account/${account}` ? [data?.connected] : []));
      expect(connections(live)).toContain(false);
      expect(connections(late)).toContain(true);
      const known = new Map<string, unknown>();
      const read = createReader({
        memory: inMemory(),
        handle: ({ subject, data }) => void known.set(subject, data),
      });
      for (const each of [...live, ...late])
        expect(await read(JSON.stringify(each))).toMatchObject({ settled: true });
      expect(known.get(`account/${account}`)).toMatchObject({ connected: false, unconfirmed: false });
    });
  });
}
