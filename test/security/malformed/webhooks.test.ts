import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { bodyText } from "../../../adapters/s3/overflow-bucket.ts";
import { parseWebhookSecret, valueOfKind, writeWebhookSecret } from "../../../domain/core/webhook-secret.ts";
import { identify, readEnvelope, writeEnvelope } from "../../../domain/event/envelope.ts";
import { webhookKinds } from "../../../domain/event/events.ts";
import { mapPayload, mappedFields } from "../../../domain/event/mapping.ts";
import { headerText } from "../../../domain/event/mapping-source.ts";
import { credentialFields, defaultCredentialFields } from "../../../domain/event/payload.ts";
import { readTask, stateTask, writeTask } from "../../../domain/fetch/task.ts";
import { eraseTask, readEraseTask, writeEraseTask } from "../../../domain/recovery/erasure.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { parseMappingPart, SettingsError } from "../../../lib/settings/settings.ts";
import { consumerWith } from "../../functions/support/consumer-fixture.ts";
import { context, httpEvent, sqsEvent } from "../../functions/support/lambda.ts";
import { receiverWith } from "../../functions/support/receiver-fixture.ts";
import { places } from "../places.ts";
import { expectCleanPrototypes, failsAsSaid, near } from "./near.ts";

const secret = "the-secret";
const maxBodyBytes = 2_000;
const at = "2026-11-21T12:00:00.000Z";
const subject = { kind: "account", id: "0f8fad5b-d9cb-469f-a165-70867728950e" } as const;
const words = [..."link session connected __proto__ constructor 1e999 null".split(" "), "\ufffe", "\u2028"];
const bodies = near(
  [
    `{"action":"create_user","data":{"id":"${subject.id}","link":"x","session":"y"}}`,
    `{"event":"connect_account","account_id":"${subject.id}","connected":true}`,
    `{"event":"update_endpoint","account_id":"${subject.id}","endpoint":"income"}`,
    `{"event":"delete_account","company_account_id":"${subject.id}"}`,
  ],
  words,
);
const credentials = credentialFields(defaultCredentialFields);
afterAll(expectCleanPrototypes);

describe("a webhook, whatever it is made of", () => {
  const requests = fc.record({
    kind: fc.constantFrom(...webhookKinds),
    presented: fc.oneof(
      { weight: 4, arbitrary: fc.constant(secret) },
      fc.constantFrom(...webhookKinds.map((kind) => valueOfKind(secret, kind)), "wrong", ""),
    ),
    headers: fc.dictionary(fc.constantFrom("ce-id", "x-event", "x-other"), near(["1", "%41"], words)),
    raw: fc.oneof(
      { weight: 8, arbitrary: bodies.map((text) => Buffer.from(text)) },
      fc.uint8Array({ maxLength: 60 }).map(Buffer.from),
      fc.constant(Buffer.alloc(maxBodyBytes + 1, "x")),
    ),
    isText: fc.boolean(),
  });

  it("is refused and sent nowhere, or answered 202 and ends stored or as a dead letter with its reason", async () => {
    await fc.assert(
      fc.asyncProperty(requests, async ({ kind, presented, headers, raw: bytes, isText }) => {
        const { sent, ...common } = places();
        // API Gateway passes texts; other bytes are in base64.
        const raw = isText ? Buffer.from(bytes.toString("utf8")) : bytes;
        const mappedHeaders = ["ce-id", "x-event"];
        const limits = { maxBodyBytes, mappedHeaders, readSecret: async () => ({ current: secret }) };
        const receive = receiverWith(kind, { ...common, ...limits });
        const all = { ...headers, "x-webhook-secret": presented };
        const body = isText ? raw.toString("utf8") : raw;
        const { statusCode } = await receive(httpEvent({ headers: all, body }), context);
        const opens = presented === secret || presented === valueOfKind(secret, kind);
        const isTooLong = raw.length > maxBodyBytes;
        if (!opens || isTooLong) {
          expect([401, 413]).toContain(statusCode);
          expect(sent).toEqual({ queue: [], dead: [] });
          return;
        }
        const mayHold = kind === "users" || credentials.mayBeIn(raw.toString("latin1").replaceAll("\0", ""));
        if (statusCode === 503) {
          expect([mayHold, sent]).toEqual([true, { queue: [], dead: [] }]);
          return;
        }
        expect(statusCode).toBe(202);
        const [message, ...more] = [...sent.queue, ...sent.dead];
        expect([message !== undefined, more]).toEqual([true, []]);
        const envelope = readEnvelope(message?.body ?? "");
        const carried = Object.fromEntries(
          mappedHeaders.flatMap((name) =>
            headers[name] === undefined ? [] : [[name, headerText(name, headers[name])]],
          ),
        );
        expect(envelope).toMatchObject({ kind, id: identify(kind, raw, carried) });
        if (kind !== "users" && !credentials.mayBeIn(raw.toString("latin1")) && raw.length > 0) {
          if (envelope.body.type === "base64")
            expect(Buffer.from(envelope.body.base64, "base64")).toEqual(raw);
          else if (envelope.body.type !== "facts")
            expect(await bodyText(envelope.body, common.overflow)).toBe(raw.toString("utf8"));
        }
        if (sent.queue.length === 0) {
          expect(sent.dead[0]?.reason).toBeTruthy();
          return;
        }
        const stored: unknown[] = [];
        const mapping = { ...defaultMapping[kind], eventId: { header: "ce-id" } };
        const store = consumerWith({
          ...{ ...common, mapping },
          record: async (receipts) => receipts.map((one) => (stored.push(one) === 1 ? "first" : "duplicate")),
        });
        const event = sqsEvent([{ MessageId: "1", Body: message?.body ?? "" }]);
        expect((await store(event, context)).batchItemFailures).toEqual([]);
        expect(stored.length + sent.dead.length).toBe(1);
        for (const letter of sent.dead)
          expect(letter).toMatchObject({ body: message?.body, reason: expect.stringMatching(/./) });
      }),
      { numRuns: 500 },
    );
  });
});

describe("an expression of the mapping, whatever it is", () => {
  const expressions = near(
    [
      "account_id || data.id",
      "list[?b=='c'].b | [0]",
      "to_string(length(keys(@)))",
      "sort_by(list, &b)[-1].b",
    ],
    ["__proto__", "toString", "[?", "[*]", "&&", "merge(", "map(&", "`1`", "join(',', values(@))"],
  );

  it("is refused by its setting's name, or gives an event or a reason", async () => {
    await fc.assert(
      fc.asyncProperty(expressions, bodies, async (expression, text) => {
        const mapping = mappingWith(expression);
        if (mapping === undefined) return;
        const facts = await failsAsSaid(() => mapPayload(mapping, jsonOf(text), jmespathSearch));
        if (facts === undefined) return;
        expect(facts.accountId).toBeDefined();
        for (const field of mappedFields) expect(String(facts[field] ?? "").length).toBeLessThanOrEqual(200);
      }),
      { numRuns: 500 },
    );
  });

  function mappingWith(expression: string) {
    try {
      const settings = { mapping: { accounts: { accountId: expression, ids: "any", time: expression } } };
      return { ...defaultMapping.accounts, ...parseMappingPart(settings, "file").accounts };
    } catch (error) {
      expect(error).toBeInstanceOf(SettingsError);
      expect(String(error)).toContain("mapping.accounts.");
      return undefined;
    }
  }
});

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

describe("a text in a queue or a secret, whatever it is", () => {
  const envelope = { schemaVersion: 1, kind: "accounts", id: "a", receivedAt: at } as const;
  const texts = near(
    [
      writeEnvelope({ ...envelope, body: { type: "text", text: "{}" } }),
      writeEnvelope({ ...envelope, body: { type: "object", key: "bodies/a", encoding: "base64", bytes: 1 } }),
      writeTask(stateTask("startFetch", subject, 1, {})),
      writeEraseTask(eraseTask(subject, "operator", [{ kind: "user", id: "c" }])),
      writeWebhookSecret({ current: "a", previous: { value: "b", until: at }, signing: "c" }),
    ],
    [...words, "schemaVersion", "facts", "cause"],
  );

  it.each<[string, (text: string) => string | undefined]>([
    ["an envelope", (text) => writeEnvelope(readEnvelope(text))],
    ["a task", (text) => writeTask(readTask(text))],
    ["a task to erase", (text) => writeEraseTask(readEraseTask(text))],
    ["a secret", (text) => writeWebhookSecret(parseWebhookSecret(text) ?? { current: "none" })],
  ])("is read as it was written, or refused with a reason: %s", async (_, rewritten) => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const once = await failsAsSaid(() => rewritten(text));
        if (once !== undefined) expect(rewritten(once)).toBe(once);
      }),
      { numRuns: 500 },
    );
  });
});
