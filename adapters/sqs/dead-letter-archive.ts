import {
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from "@aws-sdk/client-s3";
import { batchesOf } from "../../domain/core/batches.ts";
import { failureOf } from "../../domain/core/failures.ts";
import {
  checkSchemaVersion,
  fieldsOf,
  numberOf,
  optionalText,
  parseJson,
  present,
  textOf,
} from "../../domain/core/parse.ts";
import type { DeadLetter, DeadLetterSource } from "../../domain/recovery/dead-letter.ts";
import { keepsNoVersions, type PurgeVersions } from "../s3/object-versions.ts";
import { isRefused } from "../s3/overflow-bucket.ts";

/**
 * Archives dead letters before they expire, one object each.
 * Objects: `dead-letters/<queue>/<day of sending>/<message id>.json`.
 */
export type DeadLetterArchive = ReturnType<typeof deadLetterArchive>;

const batchSize = 10;

/** The schema version of archived dead letters that this release writes. */
const deadLetterVersion = 1;

/** @param purge deletes former versions of removed objects */
export function deadLetterArchive(client: S3Client, Bucket: string, purge: PurgeVersions = keepsNoVersions) {
  const remove = async (Key: string) => {
    await client.send(new DeleteObjectCommand({ Bucket, Key }));
    await purge(Bucket, Key);
  };
  const sourceBelow = (prefix: string, isWanted = (_key: string) => true): DeadLetterSource => {
    return async (handle) => {
      let [notRemoved, refused] = [0, 0];
      for await (const keys of listKeys(client, Bucket, prefix)) {
        for (const batch of batchesOf(keys.filter(isWanted), { maxItems: batchSize })) {
          const read = await Promise.all(batch.map((Key) => readDeadLetter(client, Bucket, Key)));
          const found = read.filter((each) => typeof each === "object");
          refused += read.filter((each) => each === "refused").length;
          const { done, isEnough } = await handle(found.map(({ deadLetter }) => deadLetter));
          const ids = new Set(done.map(({ messageId }) => messageId));
          const taken = found.filter(({ deadLetter }) => ids.has(deadLetter.messageId));
          const deleted = await Promise.allSettled(taken.map(({ Key }) => remove(Key)));
          notRemoved += deleted.filter(({ status }) => status === "rejected").length;
          if (isEnough) return { notRemoved, refused, mayHaveMore: true };
        }
      }
      return { notRemoved, refused, mayHaveMore: false };
    };
  };
  return {
    /** Writes a dead letter; writing it again replaces its object. `queue` is the name that commands use. */
    put: async (queue: string, deadLetter: DeadLetter) => {
      const Body = JSON.stringify({ schemaVersion: deadLetterVersion, queue, ...deadLetter });
      await client.send(
        new PutObjectCommand({
          Bucket,
          Key: keyOf(queue, deadLetter),
          Body,
          ContentType: "application/json",
        }),
      );
    },
    count: async (queue: string) => {
      let count = 0;
      for await (const keys of listKeys(client, Bucket, prefixOf(queue))) count += keys.length;
      return count;
    },
    source: (queue: string) => sourceBelow(prefixOf(queue)),
    /** The dead letters of all other queues, such as those of a removed or renamed subscriber. */
    sourceOfOthers: (queues: readonly string[]) =>
      sourceBelow(root, (key) => !queues.some((queue) => key.startsWith(prefixOf(queue)))),
  };
}

const root = "dead-letters/";

function prefixOf(queue: string): string {
  return `${root}${queue}/`;
}

function keyOf(queue: string, { messageId, sentAt }: DeadLetter): string {
  return `${prefixOf(queue)}${sentAt.toISOString().slice(0, 10)}/${messageId}.json`;
}

async function* listKeys(
  client: S3Client,
  Bucket: string,
  Prefix: string,
): AsyncGenerator<readonly string[]> {
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix })) {
    yield Contents.flatMap(({ Key }) => Key ?? []);
  }
}

type Archived = { readonly Key: string; readonly deadLetter: DeadLetter };

/**
 * Returns an invalid object as a dead letter with its whole text, so that it does not block the others.
 * @returns undefined if another reader has deleted it
 */
async function readDeadLetter(
  client: S3Client,
  Bucket: string,
  Key: string,
): Promise<Archived | "refused" | undefined> {
  try {
    const { Body, LastModified: sentAt = new Date(0) } = await client.send(
      new GetObjectCommand({ Bucket, Key }),
    );
    const body = (await Body?.transformToString()) ?? "";
    return { Key, deadLetter: parseOrKeepText(body, { messageId: Key, sentAt }) };
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    if (isRefused(error)) return "refused";
    throw error;
  }
}

function parseOrKeepText(body: string, fallback: Pick<DeadLetter, "messageId" | "sentAt">): DeadLetter {
  try {
    return parseDeadLetter(parseJson(body, fallback.messageId), fallback.messageId);
  } catch (error) {
    const { type, reason } = failureOf(error);
    if (type === "retryable") throw error;
    return { ...fallback, receives: 0, body, reason: `unreadable in the archive: ${reason}` };
  }
}

/** @throws permanent failure naming the field; retryable failure if a later release wrote it */
function parseDeadLetter(value: unknown, key: string): DeadLetter {
  const fields = fieldsOf(value, key);
  checkSchemaVersion(fields.schemaVersion, deadLetterVersion);
  return {
    messageId: textOf(fields, "messageId"),
    sentAt: new Date(textOf(fields, "sentAt")),
    receives: numberOf(fields, "receives"),
    // SQS has no empty messages.
    body: textOf(fields, "body"),
    ...present({ reason: optionalText(fields, "reason"), returns: optionalText(fields, "returns") }),
  };
}
