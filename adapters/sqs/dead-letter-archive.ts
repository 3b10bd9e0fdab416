import {
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from "@aws-sdk/client-s3";
import { batchesOf } from "../../domain/core/batches.ts";
import { fieldsOf, numberOf, optionalText, parseJson, present, textOf } from "../../domain/core/parse.ts";
import { checkSchemaVersion } from "../../domain/message/schema-version.ts";
import type { DeadLetter, LetterPlace } from "../../domain/recovery/dead-letter.ts";

/** Keeps dead letters that would have expired, an object each: `letters/<queue>/<day of sending>/<message id>.json`. */
export type LetterArchive = {
  /** Writes a letter; once more, it replaces the same object. `queue` is the name that commands give it. */
  readonly put: (queue: string, letter: DeadLetter) => Promise<void>;
  readonly place: (queue: string) => LetterPlace;
  readonly count: (queue: string) => Promise<number>;
};

const lotSize = 10;

/** The version of archived letters that this release writes. */
const letterVersion = 1;

export function letterArchive(client: S3Client, Bucket: string): LetterArchive {
  return {
    put: async (queue, letter) => {
      const Body = JSON.stringify({ schemaVersion: letterVersion, queue, ...letter });
      await client.send(
        new PutObjectCommand({ Bucket, Key: keyOf(queue, letter), Body, ContentType: "application/json" }),
      );
    },
    count: async (queue) => {
      let count = 0;
      for await (const keys of listKeys(client, Bucket, queue)) count += keys.length;
      return count;
    },
    place: (queue) => async (look) => {
      let notTaken = 0;
      for await (const keys of listKeys(client, Bucket, queue)) {
        for (const batch of batchesOf(keys, { maxItems: lotSize })) {
          const read = await Promise.all(batch.map((Key) => readLetter(client, Bucket, Key)));
          const letters = read.filter((letter) => letter !== undefined);
          const { done, isEnough } = await look(letters);
          const deleted = await Promise.allSettled(
            done.map((letter) => client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(queue, letter) }))),
          );
          notTaken += deleted.filter(({ status }) => status === "rejected").length;
          if (isEnough) return { notTaken };
        }
      }
      return { notTaken };
    },
  };
}

function prefixOf(queue: string): string {
  return `letters/${queue}/`;
}

function keyOf(queue: string, { messageId, sentAt }: DeadLetter): string {
  return `${prefixOf(queue)}${sentAt.toISOString().slice(0, 10)}/${messageId}.json`;
}

async function* listKeys(client: S3Client, Bucket: string, queue: string): AsyncGenerator<readonly string[]> {
  for await (const { Contents = [] } of paginateListObjectsV2(
    { client },
    { Bucket, Prefix: prefixOf(queue) },
  )) {
    yield Contents.flatMap(({ Key }) => Key ?? []);
  }
}

/** @returns undefined where another reader took it meanwhile */
async function readLetter(client: S3Client, Bucket: string, Key: string): Promise<DeadLetter | undefined> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    return parseLetter(parseJson((await Body?.transformToString()) ?? "", Key), Key);
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

/** @throws permanent failure naming the field; a retryable one where it is of a later release */
function parseLetter(value: unknown, key: string): DeadLetter {
  const fields = fieldsOf(value, key);
  checkSchemaVersion(fields.schemaVersion, letterVersion);
  return {
    messageId: textOf(fields, "messageId"),
    sentAt: new Date(textOf(fields, "sentAt")),
    receives: numberOf(fields, "receives"),
    // SQS has no empty messages.
    body: textOf(fields, "body"),
    ...present({ reason: optionalText(fields, "reason"), returns: optionalText(fields, "returns") }),
  };
}
