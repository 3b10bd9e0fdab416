import { bodyText } from "../../../adapters/aws/body-text.ts";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import type { Receipt } from "../../../adapters/dynamodb/event-table.ts";
import { valueOfKind } from "../../../domain/core/webhook-secret.ts";
import { type Envelope, readEnvelope } from "../../../domain/event/envelope.ts";
import { type WebhookKind, webhookKinds } from "../../../domain/event/events.ts";
import { identify } from "../../../domain/event/identify.ts";
import { headerText } from "../../../domain/event/mapping-source.ts";
import { credentialFields, defaultCredentialFields } from "../../../domain/event/payload.ts";
import { receiver } from "../../../functions/receive/receiver.ts";
import { consumer } from "../../../functions/store/consumer.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { context, httpEvent, sqsEvent } from "../../support/invocations.ts";
import { bucketInMemory, queuesInMemory } from "../fakes/memory.ts";
import { EventLost, must, type Target } from "../target.ts";
import { choosing, chosenBy, splitAtEmptyLine } from "./split.ts";

const secret = "the-secret";
const mappedHeaders = ["ce-id", "x-event"];
const receivedAt = "2026-11-21T12:00:00.000Z";
const maxBodyBytes = 2_000;

/** Headers, a line each, an empty line, the body: as HTTP has it, after a byte that chooses kind and encoding. */
type Request = {
  readonly kind: WebhookKind;
  readonly isBase64: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: Buffer;
};

function requestIn(input: Uint8Array): Request {
  const [[kind, isBase64], bytes] = chosenBy(encodings, input);
  const { head, rest } = splitAtEmptyLine(bytes);
  const lines = head.split("\n").flatMap((line) => {
    const [, name, value] = /^([^:]*):(.*)$/s.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value] as const];
  });
  // API Gateway hands over texts; bytes that are none come in base64.
  const raw = isBase64 ? Buffer.from(rest) : Buffer.from(Buffer.from(rest).toString("utf8"));
  return { kind, isBase64, headers: Object.fromEntries(lines), raw };
}

const [firstKind, ...otherKinds] = webhookKinds.flatMap((kind) => [
  [kind, false] as const,
  [kind, true] as const,
]);
const encodings = [firstKind ?? (["users", false] as const), ...otherKinds] as const;

async function check(input: Uint8Array): Promise<void> {
  const request = requestIn(input);
  const { kind, isBase64, headers, raw } = request;
  const [queues, overflow] = [queuesInMemory(), bucketInMemory()];
  const common = { send: queues.send, overflow, deadLetterQueueUrl: "dead", log: () => undefined };
  const receive = receiver(kind, {
    ...common,
    queueUrl: "queue",
    secretHeader: "x-webhook-secret",
    isAllowedSource: () => true,
    maxBodyBytes,
    mappedHeaders,
    credentials: credentialFields(defaultCredentialFields),
    readSecret: async () => ({ current: secret }),
    now: () => new Date(receivedAt),
  });
  const body = isBase64 ? raw : raw.toString("utf8");
  const { statusCode = 0 } = await receive(httpEvent({ headers, body }), context);
  const sent = [...queues.in("queue"), ...queues.in("dead")];
  if (statusCode !== 202) {
    must(statusCode === 401 || statusCode === 413, `answered ${statusCode}`);
    must(sent.length === 0, "refused, and yet sent on");
    must(!opens(kind, headers) || raw.length > maxBodyBytes, "a right secret was refused");
    return;
  }
  must(opens(kind, headers), "a wrong secret, or another kind's, was let in");
  const [message] = sent;
  if (message === undefined || sent.length !== 1) throw new EventLost(`answered 202 and sent ${sent.length}`);
  const envelope = readEnvelope(message.body);
  await checkEnvelope(envelope, request, overflow);
  if (queues.in("queue").length === 0) {
    must(message.reason !== undefined, "a dead letter has no reason");
    return;
  }

  const stored: Receipt[] = [];
  const mapping = {
    ...defaultMapping[kind],
    eventId: { header: "ce-id" },
    datasourceId: { header: "x-event" },
  };
  const store = consumer({
    ...common,
    mapping,
    search: jmespathSearch,
    record: async (receipts) => receipts.map((receipt) => (stored.push(receipt) === 1 ? "first" : "again")),
  });
  const { batchItemFailures } = await store(sqsEvent([{ MessageId: "1", Body: message.body }]), context);
  const dead = queues.in("dead");
  must(batchItemFailures.length === 0, "a body is tried again without end");
  if (stored.length + dead.length !== 1)
    throw new EventLost(`stored ${stored.length}, dead letters ${dead.length}`);
  const [deadLetter] = dead;
  if (deadLetter !== undefined)
    must(deadLetter.body === message.body && Boolean(deadLetter.reason), "a dead letter is changed");
}

/** Whether a request may be let in: by the secret, or by the value of its own kind. */
function opens(kind: WebhookKind, { "x-webhook-secret": given }: Request["headers"]): boolean {
  return given === secret || given === valueOfKind(secret, kind);
}

/** What travels on is what came: its identity, the headers that the mapping reads, and the body. */
async function checkEnvelope(
  envelope: Envelope,
  { kind, headers, raw }: Request,
  overflow: ReturnType<typeof bucketInMemory>,
): Promise<void> {
  const carried = Object.fromEntries(
    mappedHeaders.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, headerText(name, value)]];
    }),
  );
  must(envelope.kind === kind && envelope.id === identify(kind, raw, carried), "another event's identity");
  must(same(envelope.headers ?? {}, carried), "the headers are changed");
  const { body } = envelope;
  const mayHoldCredentials =
    kind === "users" || credentialFields(defaultCredentialFields).mayBeIn(raw.toString("latin1"));
  must(body.as !== "facts", "a webhook wrote facts");
  if (body.as === "withheld") {
    must(mayHoldCredentials && body.bytes === raw.length, "a body is withheld");
    return;
  }
  const text = await bodyText(body, overflow);
  if (!mayHoldCredentials) {
    const isEmpty = raw.length === 0 && Object.keys(carried).length > 0;
    if (body.as === "base64") must(Buffer.from(body.base64, "base64").equals(raw), "the bytes are changed");
    else if (text !== (isEmpty ? "null" : raw.toString("utf8"))) throw new EventLost("the body is changed");
    return;
  }
  const before: unknown = JSON.parse(raw.length === 0 ? "null" : raw.toString("utf8"), withoutCredentials);
  if (!same(before ?? null, JSON.parse(text)))
    throw new EventLost("a user's body lost more than credentials");
}

function withoutCredentials(key: string, value: unknown): unknown {
  return defaultCredentialFields.includes(key.toLowerCase()) ? undefined : value;
}

/** As JSON has it: where a reviver drops a list's item, what is left of it is null. */
function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

const id = "0f8fad5b-d9cb-469f-a165-70867728950e";
const authentic = `x-webhook-secret:${secret}`;
const [ofAccounts, ofCompanyAccounts] = (["accounts", "company-accounts"] as const).map(
  (kind) => `x-webhook-secret:${valueOfKind(secret, kind)}`,
);

export const target: Target = {
  promise:
    "the receiver answers 202, 401 or 413 and nothing else; what it accepts travels on unchanged and ends stored or as a dead letter with its reason",
  seeds: [
    choosing(0, `${authentic}\n\n{"action":"create_user","data":{"id":"${id}","link":"x","session":"y"}}`),
    choosing(2, `${authentic}\nce-id:1\n\n{"event":"connect_account","account_id":"${id}","connected":true}`),
    choosing(4, `${authentic}\n\n{"event":"update_endpoint","account_id":"${id}","endpoint":"income"}`),
    choosing(7, `${authentic}\nx-event:%41\n\n{"event":"delete_account","company_account_id":"${id}"}`),
    choosing(2, "x-webhook-secret:wrong\n\n{}"),
    choosing(2, `${ofAccounts}\n\n{"event":"connect_account","account_id":"${id}","connected":true}`),
    choosing(2, `${ofCompanyAccounts}\n\n{"event":"connect_account","account_id":"${id}","connected":true}`),
  ],
  words: [authentic, "ce-id:", "x-event:", "link", "session", "connected", "__proto__", "\ufffe", "\u2028"],
  check,
};
