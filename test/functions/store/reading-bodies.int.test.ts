import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { queueDeadLetters } from "../../../adapters/sqs/queue-dead-letters.ts";
import { queueDepth } from "../../../adapters/sqs/queue-metrics.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import {
  type Body,
  identify,
  parseBody,
  readEnvelope,
  writeEnvelope,
} from "../../../domain/event/envelope.ts";
import type { KindMapping } from "../../../domain/event/mapping.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { redrive } from "../../../packages/cli/dead-letters/redrive.ts";
import { describeOnTables } from "../../support/engines.ts";
import { badInputs, rawOf } from "../support/bad-input.ts";
import { accountEvent, consumerFixture, envelopeOf, receivedAt } from "../support/consumer-fixture.ts";
import { context, httpEvent } from "../support/lambda.ts";
import { receiverWith } from "../support/receiver-fixture.ts";

await describeOnTables("the consumer", (tables) => {
  const fixture = consumerFixture(tables);
  const { run, put, isEmpty, deadLetters } = fixture;

  describe("reads a body", () => {
    const payload = accountEvent({ note: "grüße \uFFFE" });
    const text = JSON.stringify(payload);
    const base64 = Buffer.from(text).toString("base64");
    const key = "bodies/accounts/some";
    const bytes = Buffer.byteLength(text);

    test.each<[string, Body, string | undefined]>([
      ["of base64", { type: "base64", base64 }, undefined],
      ["stored in the bucket as text", { type: "object", key, encoding: "text", bytes }, text],
      [
        "stored in the bucket as base64",
        { type: "object", key, encoding: "base64", bytes: base64.length },
        base64,
      ],
    ])("%s, and stores it as it travelled", async (_, body, object) => {
      if (object !== undefined) await overflowBucket(fixture.bucket.name).put(key, object);
      const envelope = envelopeOf(payload, body);
      await put(envelope);
      expect(await run()).toEqual([]);
      expect(await fixture.table.item(`USER#${payload.user_id}`, `EVENT#${envelope.id}`)).toMatchObject({
        event: { accountId: payload.account_id },
        body,
      });
    });

    test("that is missing in the bucket: the message is kept, for SQS to deliver again", async () => {
      const envelope = envelopeOf(payload, {
        type: "object",
        key: "bodies/accounts/none",
        encoding: "text",
        bytes,
      });
      await put(envelope);
      expect(await run()).toEqual([writeEnvelope(envelope)]);
      expect(await deadLetters()).toEqual([]);
    });
  });

  test("maps a redriven message again after a change of the mapping, under the same identity", async () => {
    const payload = { name: "verbunden", account_id: randomUUID(), time: "2026-11-21 10:00:00 UTC" };
    const envelope = envelopeOf(payload);
    await put(envelope);
    await run();
    const redriveAll = (as: string) =>
      redrive({
        source: queueDeadLetters(fixture.system.sqs, fixture.deadLetterQueueUrl, () => 60),
        isWanted: ({ reason }) => reason === "type: the payload names no event; see mapping.type",
        send: sqsSender(fixture.system.sqs),
        queueUrl: fixture.queueUrl,
        orderOf: () => ({}),
        run: as,
        limit: 10,
        onProgress: () => undefined,
      });
    expect(await redriveAll("run-1")).toMatchObject({ redriven: 1 });
    // Too early: it is redelivered and counted.
    await run();
    expect(await redriveAll("run-1")).toMatchObject({ redriven: 0, again: 1 });
    expect(await redriveAll("run-2")).toMatchObject({ redriven: 1 });
    const mapping: KindMapping = {
      ...defaultMapping.accounts,
      type: "name",
      types: { verbunden: "account.connected" },
      time: "time",
    };
    expect(await run(mapping)).toEqual([]);
    expect(await fixture.table.all()).toMatchObject([
      {
        pk: `ACCOUNT#${payload.account_id}`,
        sk: `EVENT#${envelope.id}`,
        event: { id: envelope.id, type: "account.connected", time: "2026-11-21T10:00:00.000Z", receivedAt },
      },
    ]);
    expect(await deadLetters()).toEqual([]);
  });

  test("reads headers that the envelope carries; of one that was written without, their fields are missing", async () => {
    const mapping = { ...defaultMapping.accounts, accountId: { header: "ce-subject" } };
    const accountId = randomUUID();
    const envelope = envelopeOf({ event: "connect_account" });
    await put({ ...envelope, headers: { "ce-subject": accountId } });
    await run(mapping);
    expect(await fixture.table.all()).toMatchObject([{ event: { type: "account.connected", accountId } }]);
    await put(envelope);
    await run(mapping);
    expect(await deadLetters()).toMatchObject([{ reason: expect.stringMatching(/^accountId: missing/) }]);
  });

  describe("bad input ends where it belongs, through receiver, queue and consumer:", () => {
    const receive = () =>
      receiverWith("accounts", {
        send: sqsSender(fixture.system.sqs),
        overflow: overflowBucket(fixture.bucket.name),
        queueUrl: fixture.queueUrl,
        deadLetterQueueUrl: fixture.deadLetterQueueUrl,
      });

    /** The bytes of a body, wherever it is kept. */
    const bytesOf = async (body: Body): Promise<Buffer> => {
      if (body.type === "base64") return Buffer.from(body.base64, "base64");
      if (body.type !== "object") return Buffer.from(body.type === "text" ? body.text : "");
      const content = await fixture.bucket.bytes(body.key);
      return body.encoding === "base64" ? Buffer.from(content.toString(), "base64") : content;
    };

    test.each(badInputs)("%s", async (_, body, fault, reason) => {
      const headers = { "x-webhook-secret": "secret" };
      expect(await receive()(httpEvent({ headers, body }), context)).toEqual({ statusCode: 202 });
      expect(await queueDepth(fixture.system.sqs, fixture.deadLetterQueueUrl)).toMatchObject({
        waiting: fault === "unreadable" ? 1 : 0,
      });
      expect(await run()).toEqual([]);
      const [items, letters] = [await fixture.table.all(), await deadLetters()];
      if (reason === undefined) expect([items, letters]).toMatchObject([[{ receipts: { count: 1 } }], []]);
      else expect([items, letters]).toMatchObject([[], [{ reason: expect.stringMatching(reason) }]]);
      const raw = rawOf(body);
      const kept = [
        ...items.map((item) => ({ id: Object(item.event).id, body: parseBody(item.body) })),
        ...letters.map((letter) => readEnvelope(letter.body ?? "")),
      ];
      expect(kept).toMatchObject([{ id: identify("accounts", raw) }]);
      for (const each of kept) expect((await bytesOf(each.body)).equals(raw)).toBe(true);
      expect(await isEmpty()).toBe(true);
    });
  });
});
