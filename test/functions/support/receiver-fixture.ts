import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from "vitest";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { secretReader } from "../../../adapters/secrets/secret-reader.ts";
import { singleSender } from "../../../adapters/sqs/sqs-sender.ts";
import { parseSourceAddresses } from "../../../domain/core/addresses.ts";
import { parseSecretHeader, parseWebhookSecret } from "../../../domain/core/webhook-secret.ts";
import { type Envelope, readEnvelope } from "../../../domain/event/envelope.ts";
import type { WebhookKind } from "../../../domain/event/events.ts";
import { credentialFields, defaultCredentialFields } from "../../../domain/event/payload.ts";
import { type ReceiverDependencies, receiver } from "../../../functions/receive/receiver.ts";
import { log } from "../../../functions/runtime/log.ts";
import { startTestSystem, type TestBucket, type TestSystem } from "../../support/engines.ts";
import { context, type HttpHandler, httpEvent, type Request } from "./lambda.ts";

export const secretHeader = "x-webhook-secret";

export const goodSecret = "s3cret-of-the-webhook";

export const noon = new Date("2026-11-21T12:00:00Z");

export const account = {
  event: "connect_account",
  account_id: "0f8fad5b-d9cb-469f-a165-70867728950e",
  connected: true,
};

export function call(handler: HttpHandler, request: Request = {}) {
  return handler(
    httpEvent({ headers: { [secretHeader]: goodSecret }, body: JSON.stringify(account), ...request }),
    context,
  );
}

/** A receiver with the secret `secret` and else the default settings. */
export function receiverWith(
  kind: WebhookKind,
  given: Pick<ReceiverDependencies, "send" | "overflow"> & Partial<ReceiverDependencies>,
): HttpHandler {
  return receiver(kind, {
    queueUrl: "queue",
    deadLetterQueueUrl: "dead",
    secretHeader: { name: secretHeader },
    isAllowedSource: () => true,
    maxBodyBytes: 6 * 1024 * 1024,
    mappedHeaders: [],
    credentials: credentialFields(defaultCredentialFields),
    answersProbes: false,
    requestReconciliation: async () => undefined,
    readSecret: async () => ({ current: "secret" }),
    now: () => noon,
    log: () => undefined,
    ...given,
  });
}

/** Fixture of the receiver's tests, new for each: the queues, the bucket, the receiver. */
export function receiverFixture() {
  const made = {} as {
    system: TestSystem;
    queueUrl: string;
    deadLetterQueueUrl: string;
    bucket: TestBucket;
    logged: string;
  };

  beforeAll(async () => {
    made.system = await startTestSystem();
  });
  afterAll(() => made.system.close());

  beforeEach(async () => {
    [made.queueUrl, made.deadLetterQueueUrl, made.bucket] = await Promise.all([
      made.system.createQueue(),
      made.system.createQueue(),
      made.system.createBucket(),
    ]);
    made.logged = "";
    vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
      made.logged += String(chunk);
      return true;
    });
  });
  afterEach(() => vi.restoreAllMocks());

  function receiverOf(
    kind: WebhookKind,
    {
      secret = { current: goodSecret },
      now = () => noon,
      sourceAddresses,
      header = "X-Webhook-Secret",
      secretScheme,
      ...others
    }: {
      readonly secret?: unknown;
      readonly sourceAddresses?: unknown;
      readonly header?: string;
      readonly secretScheme?: unknown;
    } & Partial<ReceiverDependencies> = {},
  ): HttpHandler {
    const { secretsManager, createSecret } = made.system;
    const reader = secretReader(secretsManager, createSecret(secret), parseWebhookSecret, { now });
    return receiverWith(kind, {
      send: singleSender(made.system.sqs),
      overflow: overflowBucket(made.bucket.name),
      queueUrl: made.queueUrl,
      deadLetterQueueUrl: made.deadLetterQueueUrl,
      secretHeader: parseSecretHeader({ secretHeader: header, secretScheme }),
      isAllowedSource: parseSourceAddresses(sourceAddresses),
      readSecret: reader.read,
      now,
      log,
      ...others,
    });
  }

  async function queued(): Promise<readonly Envelope[]> {
    return (await made.system.drain(made.queueUrl)).map(({ Body = "" }) => readEnvelope(Body));
  }

  async function deadLetters(): Promise<readonly { envelope: Envelope; reason: string | undefined }[]> {
    const messages = await made.system.drain(made.deadLetterQueueUrl);
    return messages.map(({ Body = "", MessageAttributes }) => ({
      envelope: readEnvelope(Body),
      reason: MessageAttributes?.reason?.StringValue,
    }));
  }

  async function expectNothingKept(): Promise<void> {
    expect(await made.system.drain(made.queueUrl)).toEqual([]);
    expect(await made.system.drain(made.deadLetterQueueUrl)).toEqual([]);
    expect(await made.bucket.keys()).toEqual([]);
  }

  return Object.assign(made, {
    receiverOf,
    queued,
    deadLetters,
    expectNothingKept,
  });
}
