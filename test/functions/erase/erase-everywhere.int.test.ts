import { randomUUID } from "node:crypto";
import { CreateQueueCommand, DeleteQueueCommand } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test } from "vitest";
import { readErasure } from "../../../adapters/erasure/tombstones.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { eraseTask, readEraseTask } from "../../../domain/recovery/erasure.ts";
import { eraser } from "../../../functions/erase/eraser.ts";
import { describeOnTables } from "../../support/engines.ts";
import { eraserFixture } from "../support/eraser-fixture.ts";
import { erasedAt } from "../support/erasing.ts";

await describeOnTables("a user", (tables) => {
  const fixture = eraserFixture(tables);
  const { storeAll, erase, report, ask, run, bodies } = fixture;
  const keptOf = async (subject: Subject) => {
    const { digestOf, table } = fixture;
    return readErasure(fixture.system.dynamodb, table.name, await digestOf(subject));
  };

  test.each([
    { what: "large bodies", status: 403, errorType: "AccessDenied" },
    { what: "large bodies", status: 400, errorType: "KMS.DisabledException" },
    { what: "archived dead letters", status: 403, errorType: "AccessDenied" },
    { what: "undelivered changes", status: 403, errorType: "AccessDenied" },
  ])("stays to be erased while S3 refuses $what with $status $errorType", async ({ what, ...refusal }) => {
    const { overflow, archive, archivedDeadLetters, failures, put, dependencies } = fixture;
    await storeAll();
    const body = JSON.stringify({ account_holder: fixture.user.id });
    const named = { messageId: "refused", sentAt: erasedAt, receives: 1, body };
    await put(overflow.name, "bodies/users/refused", body);
    await archivedDeadLetters.put("subscriber/removed", named);
    await put(
      failures.name,
      "refused",
      JSON.stringify({ payload: JSON.stringify({ Records: [JSON.parse(body)] }) }),
    );
    const bucket = {
      "large bodies": overflow,
      "archived dead letters": archive,
      "undelivered changes": failures,
    }[what];
    const recover = fixture.system.intercept(async ({ action, resources }, phase) =>
      phase === "before" &&
      action === "s3:GetObject" &&
      resources.some((arn) => arn.includes(`${bucket?.name}/`) && /refused(\.json)?$/.test(arn))
        ? { ...refusal, message: "injected by the test" }
        : undefined,
    );
    const handler = eraser(dependencies);
    await ask(eraseTask(fixture.user, "operator", [], "followed"));
    const untilOneFails = async () => {
      for (let steps = 0; steps < 40; steps += 1) {
        const [failed] = await fixture.step(handler);
        if (failed !== undefined) return failed;
      }
      return "none";
    };
    const failed = await untilOneFails();
    expect(readEraseTask(failed)).toMatchObject({ pass: 2, isWaiting: true });
    await fixture.system.send(fixture.queueUrl, failed);
    expect(await untilOneFails()).not.toBe("none");
    expect(await report()).toMatchObject({ isDone: false, isWaiting: true, refused: [what] });
    expect(await keptOf(fixture.user)).toMatchObject({ found: [{ isFinished: false, refused: [what] }] });
    expect(await bodies(fixture.subscriber)).toContainEqual(expect.objectContaining({ type: "user.erased" }));

    recover();
    await fixture.system.send(fixture.queueUrl, failed);
    await run(handler);

    expect(await report()).toMatchObject({ isDone: true, refused: [] });
    expect(await keptOf(fixture.user)).toMatchObject({ found: [{ isFinished: true }] });
    for (const each of [overflow, archive, failures])
      expect((await each.keys()).filter((key) => key.includes("refused"))).toEqual([]);
  });

  test("goes from the queues of a subscriber that was removed, and from no queue of somebody else", async () => {
    const { sqs } = fixture.system;
    const make = async (name: string, pipeline?: string) => {
      const tags = pipeline === undefined ? {} : { "income-events:subscriber-of": pipeline };
      const { QueueUrl = "" } = await sqs.send(
        new CreateQueueCommand({ QueueName: `${name}-${randomUUID()}`, tags }),
      );
      // The next erasure would wait for the messages that this test has received.
      onTestFinished(async () => void (await sqs.send(new DeleteQueueCommand({ QueueUrl }))));
      for (const { id } of [fixture.user, fixture.other])
        await fixture.system.send(QueueUrl, JSON.stringify({ subject: "account/x", owner: id }));
      return QueueUrl;
    };
    const removed = [
      await make("income-events-test-SubscriberRemovedQueue", "income-events-test"),
      await make("income-events-test-SubscriberRemovedDeadLetters", "income-events-test"),
    ];
    const others = [
      await make("income-events-test-two-SubscriberCrmQueue", "income-events-test-two"),
      await make("income-events-test-Untagged"),
    ];
    await storeAll();
    await erase(fixture.user);
    const owners = async (url: string) =>
      (await bodies(url)).map((body) => Reflect.get(Object(body), "owner"));
    for (const url of removed) expect(await owners(url)).toEqual([fixture.other.id]);
    for (const url of others) expect(await bodies(url)).toHaveLength(2);
    expect(await report()).toMatchObject({ removed: { "dead letters of removed queues": 2 } });
  });

  test("goes from archived dead letters of a subscriber that was removed, and no failed erasure does", async () => {
    const { archive, archivedDeadLetters } = fixture;
    const letter = (messageId: string, id: string) => ({
      messageId,
      sentAt: erasedAt,
      receives: 1,
      body: JSON.stringify({ subject: `account/x`, owner: id }),
    });
    await archivedDeadLetters.put("subscriber/removed", letter("m-1", fixture.user.id));
    await archivedDeadLetters.put("subscriber/removed", letter("m-2", fixture.other.id));
    await archivedDeadLetters.put("erase", letter("m-3", fixture.user.id));
    await erase(fixture.user);
    expect(await archive.keys()).toEqual([
      expect.stringContaining("dead-letters/erase/"),
      expect.stringContaining("m-2"),
    ]);
    expect(await report()).toMatchObject({ removed: { "dead letters of removed queues": 1 } });
  });
});
