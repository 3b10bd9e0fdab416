import { randomUUID } from "node:crypto";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { subscribersOf } from "@income-events/local-stack/outputs.ts";
import { queueDepth } from "@income-events/local-stack/sources/drained.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { clientsOf, fifoOrder } from "../../../proof/scenario/clients.ts";
import { readBodies, readItems, readObjects } from "../../../proof/scenario/snapshot.ts";
import { eventually, waitUntilIdle } from "../../support/eventually.ts";
import { type OperatedStage, startOperatedStage } from "../../support/operated-stage.ts";
import { linesWith } from "../../support/webhooks.ts";
import { describeNothingLeft } from "./nothing-left.ts";

/** A step that timed out would count what it removes again; others may write as long as they live. */
const functions = {
  store: { timeoutSeconds: 20 },
  relay: { timeoutSeconds: 6 },
  fetch: { timeoutSeconds: 4 },
  archive: { timeoutSeconds: 4 },
  erase: { timeoutSeconds: 6 },
};

describe("erase, against the running stack", () => {
  let operated: OperatedStage;
  let clients: ReturnType<typeof clientsOf>;
  beforeAll(async () => {
    operated = await startOperatedStage("erase", { erasure: { onDeletion: true }, functions });
    clients = clientsOf(operated.system.access);
    const { users, accounts } = await operated.system.sandbox.createUsers(8, { pictures: 8 });
    await idle();
    connected.push(...users.map((userId, index) => ({ userId, accountId: accounts[index] ?? "" })));
  });
  afterAll(async () => {
    clients[Symbol.dispose]();
    await operated?.[Symbol.asyncDispose]();
  });

  const output = (name: string) => operated.output(name);
  const idle = () => waitUntilIdle(operated.system);
  /** Users with an account each, all of whose data is fetched; each test uses its own. */
  const connected: { readonly userId: string; readonly accountId: string }[] = [];
  const connectedUser = () => connected.pop() ?? { userId: "", accountId: "" };
  const remaining = () => connected[0] ?? { userId: "", accountId: "" };
  const items = () => readItems(operated.system.access, output("TableName"));
  const objects = async () => [
    ...(await readObjects(operated.system.access, output("OverflowBucketName"))).keys(),
  ];
  /** Records of table and bucket that contain these ids. */
  const remains = async (...ids: readonly string[]) =>
    [...(await items()).map((item) => JSON.stringify(item)), ...(await objects())].filter((text) =>
      ids.some((id) => text.includes(id)),
    );
  /** New messages of one type to the subscriber `everything`. */
  const received = async (type: string) => {
    const [{ queueUrl } = { queueUrl: "" }] = subscribersOf(operated.system.stack);
    const bodies = await readBodies(operated.system.access, queueUrl);
    return bodies.map((body) => JSON.parse(body)).filter((message) => message.type === type);
  };

  it("erases a user with all accounts after a dry run and a confirmation, reports what was removed, and notifies subscribers", async () => {
    const { userId, accountId } = connectedUser();
    const stays = remaining();
    const deadLetters = output("FetchDeadLetterQueueUrl");
    const MessageBody = JSON.stringify({ of: accountId });
    await clients.sqs.send(
      new SendMessageCommand({ QueueUrl: deadLetters, MessageBody, ...fifoOrder(deadLetters) }),
    );

    const shown = await operated.run(["erase", "user", userId]);
    // Short searches show no progress; if there is any, nothing was removed.
    expect(shown).toMatchObject({ code: 2, stderr: expect.stringContaining(userId) });
    expect(shown.stderr).not.toContain("Removed");
    const dry = await operated.run(["erase", "user", userId.toUpperCase(), "--dry-run", "--json"]);
    expect(dry).toMatchObject({ code: 0 });
    expect(dry.json()).toMatchObject({ subject: { id: userId }, subjects: 2, removed: { states: 2 } });
    expect(await remains(userId, accountId)).not.toEqual([]);
    const result = await operated.run(["erase", "user", userId, "--yes", "--json"]);

    expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining("Removed so far") });
    expect(await remains(userId, accountId)).toEqual([]);
    expect(result.json()).toMatchObject({
      stage: "erase",
      subject: { kind: "user", id: userId },
      subjects: 2,
      removed: {
        events: expect.any(Number),
        states: 2,
        documents: expect.any(Number),
        links: 1,
        data: expect.any(Number),
        "dead letters of fetch": 1,
      },
    });
    expect(await queueDepth(clients.sqs, deadLetters)).toBe(0);
    const status = await operated.run(["erase", "status", userId, "--json"]);
    expect(status.json()).toMatchObject({
      erased: [{ subject: { kind: "user", id: userId }, found: [{ removed: { states: 2 } }] }],
    });
    const { correlationId } = z.object({ correlationId: z.uuid() }).parse(result.json());
    expect(await received("user.erased")).toMatchObject([{ data: { userId }, correlationid: correlationId }]);
    await eventually(() =>
      expect(linesWith(operated.system, correlationId)).toContain("erase/subjects ERASED"),
    );
    expect(await remains(stays.userId, stays.accountId)).not.toEqual([]);
  });

  it("drops what the provider still sends on arrival, without a message or a call", async () => {
    const { userId, accountId } = connectedUser();
    expect((await operated.run(["erase", "user", userId, "--yes"])).code).toBe(0);
    await received("");
    const calls = operated.system.sandbox.calls().length;

    operated.system.sandbox.fetchData(accountId, ["income"]);
    operated.system.sandbox.disconnectAccount(accountId);
    await idle();

    expect(await remains(userId, accountId)).toEqual([]);
    expect(await received("account.disconnected")).toEqual([]);
    const later = operated.system.sandbox.calls().slice(calls);
    expect(later.filter(({ path }) => path.includes(accountId))).toEqual([]);
  });

  describeNothingLeft(() => ({
    operated,
    person: connectedUser(),
    others: connected.map(({ accountId }) => accountId),
  }));

  it("erases a company account, and leaves its user", async () => {
    const created = await operated.system.sandbox.createUsers(1, { companyAccounts: 1 });
    const [[userId = ""], [companyId = ""]] = [created.users, created.companyAccounts];
    await idle();
    expect(await remains(companyId)).not.toEqual([]);

    const result = await operated.run(["erase", "company-account", companyId, "--yes", "--json"]);

    expect(result.code).toBe(0);
    expect(result.json()).toMatchObject({ subject: { kind: "company-account", id: companyId } });
    expect(await remains(companyId)).toEqual([]);
    expect((await items()).map(({ pk, sk }) => `${pk} ${sk}`)).toContain(`USER#${userId} STATE`);
  });

  it("refuses to erase a user with a legal hold, and erases despite it with a recorded reason", async () => {
    const { userId, accountId } = connectedUser();
    const reason = ["--reason", "case 17"];
    expect(await operated.run(["hold", "set", "user", randomUUID(), ...reason])).toMatchObject({ code: 4 });
    expect(await operated.run(["hold", "set", "user", userId, "--reason", userId])).toMatchObject({
      code: 2,
    });
    expect(await operated.run(["hold", "set", "user", userId, ...reason])).toMatchObject({ code: 0 });
    expect((await operated.run(["hold", "list", "--yes", "--json"])).json()).toMatchObject({
      holds: [{ subject: { kind: "user", id: userId }, reason: "case 17" }],
    });
    const before = await remains(userId, accountId);
    for (const asked of [
      ["user", userId],
      ["account", accountId],
    ])
      expect(await operated.run(["erase", ...asked, "--yes"])).toMatchObject({
        code: 5,
        stdout: "",
        stderr: expect.stringContaining("nothing was erased"),
      });
    expect((await remains(userId, accountId)).length).toBe(before.length);

    const despite = ["--despite-hold", "the court said so", "--yes"];
    expect(await operated.run(["erase", "user", userId, ...despite])).toMatchObject({ code: 0 });
    expect(await remains(userId, accountId)).toEqual([]);
    expect((await operated.run(["audit", "list", "--act", "erase", "--json"])).json()).toMatchObject({
      acts: expect.arrayContaining([expect.objectContaining({ reason: "the court said so" })]),
    });
    expect(await operated.run(["hold", "clear", "user", userId, ...reason])).toMatchObject({ code: 4 });
  });

  it("follows a deletion at the provider, if the setting is on", async () => {
    const { userId, accountId } = connectedUser();
    operated.system.sandbox.deleteUser(userId);
    await idle();
    expect(await remains(userId, accountId)).toEqual([]);
    expect(await received("user.erased")).toContainEqual(expect.objectContaining({ data: { userId } }));
  });

  describe("restore", () => {
    it("refuses the stage's own table, and a missing one, before anything is done", async () => {
      expect(await operated.run(["restore", output("TableName"), "--yes"])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("That is the stage's own table."),
      });
      expect(await operated.run(["restore", "no-such-table", "--yes"])).toMatchObject({
        code: 3,
        stdout: "",
      });
      expect(await operated.run(["restore", "no-such-table"])).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/Subscribers get\s+messages again[\s\S]*--yes/),
      });
    });
  });
});
