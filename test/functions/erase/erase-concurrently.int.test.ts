import { describe, expect, test } from "vitest";
import { nameOf } from "../../../domain/event/subjects.ts";
import { eraseSteps, eraseTask } from "../../../domain/recovery/erasure.ts";
import { eraser } from "../../../functions/erase/eraser.ts";
import { keptPages } from "../../../functions/fetch/read-pages.ts";
import { describeOnTables } from "../../support/engines.ts";
import { eraserFixture, large, pages, pagesOf } from "../support/eraser-fixture.ts";
import { erasedAt } from "../support/erasing.ts";
import { context, settle, sqsEvent } from "../support/lambda.ts";

await describeOnTables("the eraser", (tables) => {
  const fixture = eraserFixture(tables);
  const { store, storeAll, run, step, showAgain, ask, erase, remains, report, bodies, isErased } = fixture;

  describe("late data", () => {
    test("is removed without another message, and without a search of the dead letters", async () => {
      await storeAll();
      await erase(fixture.user);
      await bodies(fixture.subscriber);
      await storeAll();
      fixture.sweeps.deadLetters = true;
      const receives = () => fixture.system.calls().get("test sqs:ReceiveMessage") ?? 0;
      const before = receives();
      await ask(eraseTask(fixture.user, "arrived late", [fixture.account]));
      const messages = await run();
      expect(await remains(fixture.user.id, fixture.account.id)).toEqual([]);
      expect(await bodies(fixture.subscriber)).toEqual([]);
      // Subjects, records and messages, two passes; each is received twice here.
      expect(messages).toBe(6);
      expect(receives() - before).toBeLessThanOrEqual(2 * messages + 2);
    });

    test("announces an account that was not known to be the user's", async () => {
      await store({ kind: "users", type: "user.created", userId: fixture.user.id });
      await erase(fixture.user);
      await bodies(fixture.subscriber);
      await store({ userId: fixture.user.id, accountId: fixture.account.id });
      await ask(eraseTask(fixture.user, "arrived late", [fixture.account]));
      await run();
      expect(await remains(fixture.user.id, fixture.account.id)).toEqual([]);
      expect(await isErased(fixture.account)).toEqual([nameOf(fixture.account)]);
      expect(await bodies(fixture.subscriber)).toMatchObject([{ type: "account.erased" }]);
    });
  });

  describe("functions in flight", () => {
    test("may write data, pages and links until the second pass, which removes them", async () => {
      await storeAll();
      await ask(eraseTask(fixture.user, "operator"));
      const handler = eraser(fixture.dependencies);
      // Subjects, records, dead letters, bodies, undelivered changes, messages.
      for (let steps = 0; steps < 6; steps += 1) await step(handler);
      expect(await remains(fixture.user.id, fixture.account.id)).toEqual([]);
      const { storing } = fixture;
      await storing.document(fixture.account, "income", large());
      await keptPages(storing.overflow).keep(pagesOf(fixture.account), pages);
      await storing.link(fixture.user.id, fixture.account.id);
      await run(handler);
      expect(await remains(fixture.user.id, fixture.account.id)).toEqual([]);
      expect(fixture.entries.map(({ code }) => code)).toEqual(["ERASED", "ERASED_AGAIN"]);
    });

    test("know of new tombstones before records are removed, and have timed out before the second pass", async () => {
      await store({ kind: "users", type: "user.created", userId: fixture.user.id });
      const sent: (number | undefined)[] = [];
      const { send } = fixture.dependencies;
      const handler = eraser({
        ...fixture.dependencies,
        settleSeconds: 2,
        drainSeconds: 1,
        send: (url, messages) => {
          sent.push(...messages.map(({ delayInSeconds }) => delayInSeconds));
          return send(
            url,
            messages.map(({ body }) => ({ body })),
          );
        },
      });
      await ask(eraseTask(fixture.user, "operator"));
      for (const _ of eraseSteps) await step(handler);
      expect(sent).toEqual([2, ...eraseSteps.slice(2).map(() => undefined), 1]);
    });
  });

  test("an erasure that is killed at any of its calls continues when its message is delivered again, and erases everything", async () => {
    await storeAll();
    fixture.sweeps.deadLetters = true;
    await fixture.system.send(fixture.deadLetters.users, "a dead letter");
    await ask(eraseTask(fixture.user, "operator", [], "followed"));
    const counts = new Map<string, number>();
    const ofTheTest = new Set([
      ...["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility"],
      "dynamodb:GetItem",
    ]);
    // The first and third call of each action: the engine applies it, but the function gets no answer.
    const end = fixture.system.intercept(async ({ action }, phase) => {
      if (phase === "before" || ofTheTest.has(action)) return undefined;
      const count = (counts.get(action) ?? 0) + 1;
      counts.set(action, count);
      return count === 1 || count === 3
        ? { status: 503, errorType: "ServiceUnavailable", message: "killed" }
        : undefined;
    });
    const handler = eraser(fixture.dependencies);
    for (let tries = 0; !(await report())?.isDone && tries < 100; tries += 1) {
      const messages = await fixture.system.receive(fixture.queueUrl);
      const answer = await handler(sqsEvent(messages), context);
      const left = await settle(fixture.system, fixture.queueUrl, messages, answer);
      for (const { ReceiptHandle } of left) await showAgain(ReceiptHandle);
    }
    end();
    expect(await report()).toMatchObject({ isDone: true, subjects: 2 });
    expect(await remains(fixture.user.id, fixture.account.id)).toEqual([]);
    expect(await isErased(fixture.user, fixture.account)).toHaveLength(2);
    expect([...counts.keys()]).toEqual(
      expect.arrayContaining([
        ...["dynamodb:DeleteItem", "dynamodb:UpdateItem", "s3:DeleteObject", "s3:PutObject"],
        ...["sqs:SendMessageBatch", "sqs:ChangeMessageVisibilityBatch"],
      ]),
    );
  });

  test("a partition that is too large for one run is erased in several", async () => {
    for (let count = 0; count < 60; count += 1)
      await store({ kind: "users", type: "user.updated", userId: fixture.user.id });
    await fixture.askFrom("records");
    await fixture.stepFor(60_000, 60_000, 10_000);
    const left = (await fixture.table.items(`USER#${fixture.user.id}`)).length;
    expect(left).toBeGreaterThan(0);
    expect(await report()).toMatchObject({ step: "records", isDone: false, removed: { events: 61 - left } });
    await run();
    expect(await remains(fixture.user.id)).toEqual([]);
    expect(await report()).toMatchObject({ removed: { events: 60, states: 1 } });
  });

  test("a task that can't be read goes to the eraser's own dead letters, with the reason", async () => {
    await fixture.system.send(fixture.queueUrl, '{"schemaVersion":1,"cause":"whim"}');
    await step();
    const [deadLetter] = await fixture.system.drain(fixture.deadLetterQueueUrl);
    expect(deadLetter?.MessageAttributes?.reason?.StringValue).toMatch(/^cause: expected one of operator/);
  });

  test("the log contains digests and times, and no ids", async () => {
    await storeAll();
    await erase(fixture.user);
    const keys = await fixture.log.keys();
    expect(keys.toSorted()).toEqual(
      (await Promise.all([fixture.user, fixture.account].map(fixture.digestOf)))
        .map((digest) => `erased/${digest}`)
        .toSorted(),
    );
    expect(JSON.parse((await fixture.log.bytes(keys[0] ?? "")).toString())).toEqual({
      schemaVersion: 1,
      erasedAt: erasedAt.toISOString(),
    });
  });
});
