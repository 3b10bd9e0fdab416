import { PutObjectCommand } from "@aws-sdk/client-s3";
import { batchingReader, batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { eventTable, linkTable } from "../../../adapters/dynamodb/event-table.ts";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { erasableRecords } from "../../../adapters/erasure/erasable-records.ts";
import { erasureLogWriter } from "../../../adapters/erasure/erasure-log.ts";
import { findErased, subjectDigest } from "../../../adapters/erasure/find-erased.ts";
import { sweepLease } from "../../../adapters/erasure/sweep-lease.ts";
import { reportWriter, tombstones } from "../../../adapters/erasure/tombstones.ts";
import { objectEraser } from "../../../adapters/s3/object-eraser.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { deadLetterArchive } from "../../../adapters/sqs/dead-letter-archive.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { undeliveredChanges } from "../../../adapters/streams/undelivered-changes.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { deadLetterSources } from "../../../functions/erase/dead-letter-sources.ts";
import type { EraserDependencies } from "../../../functions/erase/dependencies.ts";
import { publisher } from "../../../functions/runtime/subscriber-queues.ts";
import type { TestSystem, TestTable } from "../../support/engines.ts";
import { keptLog } from "./lambda.ts";
import { savedDocuments } from "./saved-documents.ts";

export const erasedAt = new Date("2026-11-21T12:00:00.000Z");
export const source = "/income-events/test";
const pipelineName = "income-events-test";

/** An erasure's empty surroundings, and the eraser's dependencies. */
export async function createErasureFixture(system: TestSystem) {
  const table = await system.createTable();
  const bucket = () => system.createBucket();
  const queue = () => system.createQueue();
  const [overflow, failures, log, archive] = await Promise.all([bucket(), bucket(), bucket(), bucket()]);
  const [queueUrl, deadLetterQueueUrl, subscriber, parked, users, fetch] = await Promise.all([
    ...[queue(), queue(), queue(), queue(), queue(), queue()],
  ] as const);
  const kept = keptLog();
  const send = sqsSender(system.sqs);
  const now = () => erasedAt;
  const digestOf = subjectDigest(system.secretsManager, system.createSecret({ key: "of the stage" }));
  const queues = { all: { queueUrl: subscriber, deadLetterQueueUrl: parked } };
  const archivedDeadLetters = deadLetterArchive(system.s3, archive.name);
  // Receiving from an empty queue takes a second, so most tests skip it.
  const sweeps = { deadLetters: false };
  const deadLetters = { users, fetch, "subscriber/all": parked };
  const dependencies: EraserDependencies = {
    digestOf,
    tombstones: tombstones(system.dynamodb, table.name, 100, now),
    writeLog: erasureLogWriter(system.s3, log.name),
    records: erasableRecords(system.dynamodb, table.name),
    objects: objectEraser(system.s3, overflow.name),
    bodies: overflowBucket(overflow.name, system.s3),
    deadLetters: (secondsLeft) => {
      const known = sweeps.deadLetters ? Object.entries(deadLetters) : [];
      const others = [queueUrl, deadLetterQueueUrl, subscriber, ...Object.values(deadLetters)];
      return deadLetterSources(system.sqs, archivedDeadLetters, { named: known, others, pipelineName })(
        secondsLeft,
      );
    },
    takeSweepLease: sweepLease(system.dynamodb, table.name, now),
    recheckSeconds: () => 0,
    removeUndelivered: undeliveredChanges(system.s3, failures.name),
    publish: publisher(send, [{ name: "all", ...queues.all }], kept.log),
    writeReport: reportWriter(system.dynamodb, table.name, now),
    send,
    queueUrl,
    deadLetterQueueUrl,
    settleSeconds: 0,
    drainSeconds: 0,
    eventSource: source,
    log: kept.log,
  };
  return {
    table,
    overflow,
    failures,
    log,
    archive,
    archivedDeadLetters,
    digestOf,
    dependencies,
    queueUrl,
    deadLetterQueueUrl,
    subscriber,
    deadLetters,
    sweeps,
    entries: kept.entries,
    findErased: findErased(batchingReader(system.dynamodb, table.name), digestOf, { seconds: 0 }),
    put: (bucket: string, key: string, body: string) =>
      system.s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body })),
    storing: storing(system, table, overflow.name),
  };
}

export type ErasureFixture = Awaited<ReturnType<typeof createErasureFixture>>;

function storing(system: TestSystem, { name }: TestTable, bucket: string) {
  const saved = savedDocuments(system, { name }, { name: bucket });
  return {
    record: eventTable(system.dynamodb, name, 30),
    link: linkTable(batchingWriter(system.dynamodb, name)),
    versionedRecords: versionedRecords(system.dynamodb, name),
    document: (
      subject: Subject,
      endpoint: string,
      text: string,
      more: { userId?: string; retainDays?: number } = {},
    ) => saved.save(subject, text, { name: { endpoint }, ...more }),
    overflow: overflowBucket(bucket, system.s3),
  };
}
