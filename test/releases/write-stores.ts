import { GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { dataClaims } from "../../adapters/dynamodb/claims.ts";
import { contentOf, contentStore } from "../../adapters/dynamodb/document-store.ts";
import { eventTable } from "../../adapters/dynamodb/event-table.ts";
import { linkTable } from "../../adapters/dynamodb/links.ts";
import { sharedWrites } from "../../adapters/dynamodb/shared-writes.ts";
import { versionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import { erasureLogWriter } from "../../adapters/erasure/erasure-log.ts";
import { keepReport } from "../../adapters/erasure/erasure-report.ts";
import { subjectDigest } from "../../adapters/erasure/subject-digest.ts";
import { tombstones } from "../../adapters/erasure/tombstones.ts";
import { rateLimiter } from "../../adapters/provider/rate-limiter.ts";
import { refusalNote } from "../../adapters/provider/refusal-note.ts";
import { sharedBreaker } from "../../adapters/provider/shared-breaker.ts";
import { keptPages } from "../../adapters/s3/kept-pages.ts";
import { overflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import { setToken, tokenSecret } from "../../adapters/secrets/token-secret.ts";
import { webhookSecretStore } from "../../adapters/secrets/webhook-secret.ts";
import { deadLetterArchive } from "../../adapters/sqs/dead-letter-archive.ts";
import { checkpoint } from "../../adapters/streams/checkpoint.ts";
import { advance, startRun, turnPage } from "../../domain/reconcile/reconciliation.ts";
import type { DeadLetter } from "../../domain/recovery/dead-letter.ts";
import { eraseTask } from "../../domain/recovery/erasure.ts";
import { receiptOf } from "../adapters/dynamodb/receipt.ts";
import type { TestBucket, TestSystem, TestTable } from "../support/engines.ts";
import { at, event, income, known, noon, ranged, subject, user } from "./sample-subjects.ts";
import type { Samples } from "./samples.ts";

export const claimSeconds = 60;
export const breakerSettings = { failures: 1, baseSeconds: 60, maxSeconds: 600 };
export const callsPerMinute = 6;
export const largeData = JSON.stringify({ data: "x".repeat(380_001) });
export const pages = [Buffer.from('{"id":1}'), Buffer.from('{"id":2}')];
export const deadLetter: DeadLetter = {
  messageId: "m",
  sentAt: noon,
  receives: 5,
  body: "{}",
  reason: "poison",
};
const now = () => noon;

/** What the pipeline stores in a table, by its items' keys. */
export async function itemSamples(
  system: TestSystem,
  table: TestTable,
  bucket: TestBucket,
): Promise<Samples> {
  const { dynamodb } = system;
  const kept = versionedRecords(dynamodb, table.name);
  await eventTable(dynamodb, table.name, 90)([receiptOf(event, undefined, "m1")]);
  await kept.state(subject, () => known.state);
  await kept.document(subject, ranged, () => known.ranged);
  // A revision is written only over the one before it.
  await kept.document(subject, income, () => ({ ...known.fetched, version: 1 }));
  await linkTable(sharedWrites(dynamodb, table.name))(user.id, subject.id);
  const store = contentStore(dynamodb, table.name, overflowBucket(bucket.name));
  await store(subject, income, 1, contentOf('{"gross":12.50}'));
  await store(subject, ranged, 1, contentOf(largeData));
  await dataClaims(dynamodb, table.name, claimSeconds, now)(subject, income, 1, noon);
  await rateLimiter(dynamodb, table.name, callsPerMinute, { now }).permit();
  const breaker = sharedBreaker(dynamodb, table.name, {
    settings: breakerSettings,
    longestCallInSeconds: 10,
    now,
    random: () => 0.5,
    onStateChange: () => undefined,
  });
  await (await breaker.admit())({ pauseInSeconds: 0 });
  await refusalNote(dynamodb, table.name).note("refused");
  const run = turnPage(startRun(undefined, noon), { next: "cursor", pages: 1, mark: "mark" }, 1, noon);
  await checkpoint(dynamodb, table.name).save(advance(run, user.id, { listed: 1, missed: 1 }));
  await tombstones(dynamodb, table.name, 90, now).place(await erasureDigest(system), undefined);
  await keepReport(dynamodb, table.name, now)(eraseTask(user, "operator", [], "id"), true);
  const items = await table.all();
  return sorted(items.map((item) => [`${item.pk} ${item.sk}`, item]));
}

/** What it keeps in a bucket, by key, in base64. */
export async function objectSamples(system: TestSystem, bucket: TestBucket): Promise<Samples> {
  await keptPages(overflowBucket(bucket.name)).keep(subject, income, pages);
  await erasureLogWriter(system.s3, bucket.name)(await erasureDigest(system), at);
  await deadLetterArchive(system.s3, bucket.name).put("users", deadLetter);
  const keys = await bucket.keys();
  const objects = keys.map(async (key) => [key, (await bucket.bytes(key)).toString("base64")] as const);
  return sorted(await Promise.all(objects));
}

/** What stands for the user who was erased, with a key that all releases share. */
export const erasureDigest = ({ secretsManager, createSecret }: TestSystem): Promise<string> =>
  subjectDigest(secretsManager, createSecret({ key: "erasure key" }))(user);

/** What it keeps in secrets. */
export async function secretSamples({ secretsManager, createSecret }: TestSystem): Promise<Samples> {
  const [token, webhook] = [createSecret({ placeholder: "" }), createSecret({ current: "first" })];
  const read = async (SecretId: string, VersionStage = "AWSCURRENT"): Promise<unknown> => {
    const { SecretString = "" } = await secretsManager.send(
      new GetSecretValueCommand({ SecretId, VersionStage }),
    );
    return JSON.parse(SecretString);
  };
  await setToken(secretsManager, token, "by hand");
  await tokenSecret(secretsManager, token).propose("refreshed", "the version before");
  const secrets = webhookSecretStore(secretsManager, webhook);
  const { versionId } = await secrets.read();
  const previous = { value: "previous", until: at };
  await secrets.replace({ current: "current", previous, signing: "signing" }, versionId);
  return {
    "token set by hand": await read(token),
    "token that is pending": await read(token, "AWSPENDING"),
    "webhook during a rotation": await read(webhook),
  };
}

function sorted(entries: readonly (readonly [string, unknown])[]): Samples {
  return Object.fromEntries(entries.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
