import { randomUUID } from "node:crypto";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { DeleteMessageCommand } from "@aws-sdk/client-sqs";
import { marshall } from "@aws-sdk/util-dynamodb";
import { queueDepth } from "@income-events/local-stack/sources/drained.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { readReport } from "../../../adapters/erasure/tombstones.ts";
import { writeEnvelope } from "../../../domain/event/envelope.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { documentTask, writeTask } from "../../../domain/fetch/task.ts";
import { eraseTask } from "../../../domain/recovery/erasure.ts";
import { eraser } from "../../../functions/erase/eraser.ts";
import { describeOnTables } from "../../support/engines.ts";
import { eraserFixture } from "../support/eraser-fixture.ts";
import { erasedAt } from "../support/erasing.ts";
import { context, settle, sqsEvent } from "../support/lambda.ts";

await describeOnTables("the eraser", (tables) => {
  const fixture = eraserFixture(tables);
  const { storeAll, run, step, stepFor, ask, askFrom, erase, report } = fixture;

  const payload = (id: string) => JSON.stringify({ event: "unheard_of", data: { user_id: id } });
  const envelope = (body: Parameters<typeof writeEnvelope>[0]["body"]) =>
    writeEnvelope({
      ...{ schemaVersion: 1, kind: "users", id: randomUUID() },
      receivedAt: erasedAt.toISOString(),
      body,
    });
  const largeBody = (name: string) =>
    envelope({ type: "object", key: `bodies/users/${name}`, encoding: "text", bytes: 1 });
  const inText = (id: string) => envelope({ type: "text", text: payload(id) });
  const givenUp = (...ids: readonly string[]) =>
    JSON.stringify({
      requestContext: { condition: "RetryAttemptsExhausted" },
      payload: JSON.stringify({
        Records: ids.map((id) => ({ dynamodb: { Keys: { pk: { S: `USER#${id}` } } } })),
      }),
    });
  /** Keys of large bodies. */
  const bodies = async () => (await fixture.overflow.keys()).filter((key) => key.startsWith("bodies/"));

  describe("dead letters", () => {
    beforeEach(() => {
      fixture.sweeps.deadLetters = true;
    });
    test("of one large body, delivered twice, go both, in queue and archive", async () => {
      const { deadLetters, overflow, put, archivedDeadLetters } = fixture;
      await put(overflow.name, "bodies/users/large", payload(fixture.user.id));
      const body = largeBody("large");
      for (const MessageBody of [body, body]) await fixture.system.send(deadLetters.users, MessageBody);
      await archivedDeadLetters.put("users", { messageId: "m-1", sentAt: erasedAt, receives: 1, body });
      await erase(fixture.user);
      expect((await report())?.removed).toMatchObject({ "dead letters of users": 3 });
      expect(await fixture.system.drain(deadLetters.users)).toEqual([]);
      expect(await fixture.archive.keys()).toEqual([]);
      expect(await bodies()).toEqual([]);
    });

    test("of a large body are deleted, even if the first attempt ends before that", async () => {
      const { archive, overflow, put, archivedDeadLetters } = fixture;
      await put(overflow.name, "bodies/users/large", payload(fixture.user.id));
      const body = largeBody("large");
      await archivedDeadLetters.put("users", { messageId: "m-1", sentAt: erasedAt, receives: 1, body });
      const recover = fixture.system.intercept(async ({ action, resources }, phase) =>
        phase === "before" &&
        action.startsWith("s3:DeleteObject") &&
        resources.some((arn) => arn.includes(archive.name))
          ? { status: 503, errorType: "ServiceUnavailable", message: "injected by the test" }
          : undefined,
      );
      await ask(eraseTask(fixture.user, "operator", [], "refused"));
      await run();
      expect(await archive.keys()).toHaveLength(1);
      recover();
      await erase(fixture.user);
      expect(await archive.keys()).toEqual([]);
      expect(await bodies()).toEqual([]);
    });

    test("of two concurrently erased users are all found: neither search hides them from the other", async () => {
      const users = [fixture.user, { kind: "user", id: randomUUID() } as const];
      for (let count = 0; count < 60; count += 1) {
        await fixture.system.send(fixture.deadLetters.users, inText(users[count % 2]?.id ?? ""));
      }
      await Promise.all(users.map((user) => ask(eraseTask(user, "operator", [], user.id))));
      // Even in lockstep, as here, where neither waits before it reads again.
      const handler = eraser(fixture.dependencies);
      while ((await queueDepth(fixture.system.sqs, fixture.queueUrl)) > 0) {
        const messages = await fixture.system.receive(fixture.queueUrl);
        await Promise.all(
          messages.map(async (message) => {
            const answer = await handler(sqsEvent([message]), context);
            expect(await settle(fixture.system, fixture.queueUrl, [message], answer)).toEqual([]);
          }),
        );
      }
      expect(await fixture.system.drain(fixture.deadLetters.users)).toEqual([]);
      for (const { id } of users) {
        const { table } = fixture;
        expect(await readReport(fixture.system.dynamodb, table.name, id)).toMatchObject({
          isDone: true,
          incomplete: [],
          removed: { "dead letters of users": 30 },
        });
      }
    });

    test("that another reader holds are awaited, and searched once it has ended", async () => {
      const { deadLetters } = fixture;
      await fixture.system.send(deadLetters.users, inText(fixture.user.id));
      const held = await fixture.system.receive(deadLetters.users);
      await askFrom("dead letters");
      await step();
      expect(await report()).toMatchObject({ step: "dead letters", removed: {} });
      for (const { ReceiptHandle } of held) await fixture.showAgain(ReceiptHandle, deadLetters.users);
      await run();
      expect(await fixture.system.drain(deadLetters.users)).toEqual([]);
      expect(await report()).toMatchObject({ incomplete: [], removed: { "dead letters of users": 1 } });
    });

    test("that another reader never releases are reported after the last of many attempts", async () => {
      const { deadLetters } = fixture;
      await fixture.system.send(deadLetters.users, "a dead letter");
      await fixture.system.receive(deadLetters.users);
      await askFrom("dead letters", { searches: 15 });
      await step();
      expect(await report()).toMatchObject({ incomplete: ["users"], step: "bodies" });
    });

    test("that the archiver takes from their queue meanwhile are found in the archive", async () => {
      const { deadLetters, archivedDeadLetters } = fixture;
      const body = inText(fixture.user.id);
      await fixture.system.send(deadLetters.users, body);
      const [held] = await fixture.system.receive(deadLetters.users);
      await askFrom("dead letters");
      await step();
      await archivedDeadLetters.put("users", { messageId: "m-1", sentAt: erasedAt, receives: 1, body });
      const taken = { QueueUrl: deadLetters.users, ReceiptHandle: held?.ReceiptHandle };
      await fixture.system.sqs.send(new DeleteMessageCommand(taken));
      await run();
      expect(await fixture.archive.keys()).toEqual([]);
      expect(await report()).toMatchObject({ incomplete: [], removed: { "dead letters of users": 1 } });
    });

    test("that are too many for the function's time are reported, and hold nothing up", async () => {
      await askFrom("dead letters");
      for (let count = 0; count < 11; count += 1)
        await fixture.system.send(fixture.deadLetters.fetch, `letter ${count}`);
      await stepFor(60_000, 60_000, 10_000);
      expect(await report()).toMatchObject({ incomplete: ["fetch"], step: "bodies" });
    });
  });

  test("large bodies that are too many for the function's time are resumed where it ended", async () => {
    const { put, overflow } = fixture;
    const keys = Array.from({ length: 12 }, (_, index) => `bodies/users/${String(index).padStart(2, "0")}`);
    for (const key of keys) await put(overflow.name, key, payload(fixture.user.id));
    await askFrom("bodies", { isFound: true });
    await stepFor(60_000, 10_000);
    expect(await bodies()).toEqual(keys.slice(10));
    expect(await report()).toMatchObject({ step: "bodies" });
    await run();
    expect(await bodies()).toEqual([]);
    expect((await report())?.removed).toMatchObject({ "bodies found by content": 12 });
  });

  test("everywhere else what names the user is removed and counted, and what names others stays", async () => {
    await storeAll();
    fixture.sweeps.deadLetters = true;
    const { deadLetters, overflow, failures, archive, archivedDeadLetters, put, system, table } = fixture;
    const { user, account, other } = fixture;
    const task = (subject: Subject) =>
      writeTask(documentTask(subject, { endpoint: "income" }, 1, { cause: "e.1" }));
    const names = ["large", "unreferenced", "upper", "others", "others of nobody"];
    const [large, unreferenced, upper] = [user.id, user.id, user.id.toUpperCase()].map(payload);
    const bodiesPut = [
      large,
      unreferenced,
      Buffer.from(upper ?? "").toString("base64"),
      payload("x"),
      payload("y"),
    ];
    for (const [index, name] of names.entries())
      await put(overflow.name, `bodies/users/${name}`, bodiesPut[index] ?? "");
    const others = [inText("somebody else"), largeBody("others"), "no envelope"];
    const inBase64 = Buffer.from(payload(user.id)).toString("base64");
    const own = [inText(user.id), envelope({ type: "base64", base64: inBase64 }), largeBody("large")];
    for (const body of [...own, ...others]) await system.send(deadLetters.users, body);
    for (const subject of [account, other]) await system.send(deadLetters.fetch, task(subject));
    const message = JSON.stringify({ subject: `account/${account.id}/income` });
    await system.send(deadLetters["subscriber/all"], message);
    for (const [messageId, subject] of [
      ["m-1", account],
      ["m-2", other],
    ] as const)
      await archivedDeadLetters.put("fetch", {
        messageId,
        sentAt: erasedAt,
        receives: 1,
        body: task(subject),
      });
    await put(failures.name, "aws/lambda/mixed", givenUp("somebody", user.id, "else"));
    await put(failures.name, "aws/lambda/own", givenUp(user.id, user.id));
    await put(failures.name, "aws/lambda/others", givenUp("somebody"));
    await put(failures.name, "aws/lambda/unknown", `{"in": "another form", "of": "${user.id}"}`);
    for (const [sk, replay] of Object.entries({
      "of-the-user": { subject: user },
      "come-so-far": { after: { pk: `USER#${user.id}`, sk: "STATE" } },
      "of-another": { subject: other },
    })) {
      const Item = marshall({ pk: "REPLAY", sk, replay });
      await system.dynamodb.send(new PutItemCommand({ TableName: table.name, Item }));
    }

    await erase(user);

    expect((await report())?.removed).toMatchObject({
      "dead letters of users": 3,
      "dead letters of fetch": 2,
      "dead letters of subscriber/all": 1,
      "bodies found by content": 3,
      "undelivered changes": 4,
      replays: 2,
    });
    const left = async (url: string) => (await system.drain(url)).map(({ Body = "" }) => Body).toSorted();
    expect(await left(deadLetters.users)).toEqual(others.toSorted());
    expect(await left(deadLetters.fetch)).toEqual([task(other)]);
    expect(await left(deadLetters["subscriber/all"])).toEqual([]);
    expect(await archive.keys()).toEqual([expect.stringContaining("m-2")]);
    expect(await bodies()).toEqual(["bodies/users/others", "bodies/users/others of nobody"]);
    expect((await failures.keys()).toSorted()).toEqual(["aws/lambda/mixed", "aws/lambda/others"]);
    expect((await failures.bytes("aws/lambda/mixed")).toString()).toBe(givenUp("somebody", "else"));
    expect((await failures.bytes("aws/lambda/others")).toString()).toBe(givenUp("somebody"));
    expect((await table.items("REPLAY")).map(({ sk }) => sk)).toEqual(["of-another"]);
  });
});
