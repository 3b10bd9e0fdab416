import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { optionalText } from "../../domain/core/parse.ts";
import { conflictOf, isWritten } from "../dynamodb/batching-writer.ts";
import { itemVersion, readItem, refusalNoteKey } from "../dynamodb/keys.ts";

/**
 * The note of the token version that the provider refuses: one item for all functions. The first to note a version
 * requests a refresh. The refresher reads the note in each run, so that no request is lost.
 */
export type RefusalNote = {
  /**
   * @param asks whether the caller then requests a refresh; default true
   * @returns "noted" for the first caller, and for the first that requests a refresh; "ended" if the version is
   * unusable
   */
  readonly note: (versionId: string, asks?: boolean) => Promise<"noted" | "known" | "ended">;
  readonly read: () => Promise<string | undefined>;
  /**
   * Claims the one refresh call of this minute, across all runs of the refresher.
   * @returns false if another run claimed it less than a minute ago
   */
  readonly claimRefresh: (now: Date) => Promise<boolean>;
  /** Records whether a noted version is unusable. Does nothing if the note is about another version. */
  readonly conclude: (versionId: string, isEnded: boolean) => Promise<void>;
};

/**
 * The status of a token version: `noted` if a call with it was refused, `ended` if it is unusable. Read-only, for
 * operators.
 */
export async function refusalOf(
  client: DynamoDBClient,
  tableName: string,
  versionId: string,
): Promise<"none" | "noted" | "ended"> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: tableName, Key: marshall(refusalNoteKey), ConsistentRead: true }),
  );
  const note = Item && readItem(Item);
  if (note?.refusedVersion !== versionId) return "none";
  // The refresher has since proven the token: the refusal was about that call's path.
  if (note.isEnded === false) return "none";
  return note.isEnded === true ? "ended" : "noted";
}

export function refusalNote(client: DynamoDBClient, tableName: string): RefusalNote {
  const item = { TableName: tableName, Key: marshall(refusalNoteKey) };
  const ExpressionAttributeNames = { "#version": "refusedVersion", "#ended": "isEnded" };
  const versionOf = (versionId: string) => marshall({ ":version": versionId });
  return {
    note: async (versionId, asks = true) => {
      const isOther = "attribute_not_exists(#version) OR #version <> :version";
      // The first to note it may not have requested a refresh.
      const isUnasked = "attribute_not_exists(#ended) AND attribute_not_exists(#asked)";
      const set = "SET #version = :version, schemaVersion = :schema";
      const conflict = await conflictOf(
        client.send(
          new UpdateItemCommand({
            ...item,
            UpdateExpression: asks ? `${set}, #asked = :asked REMOVE #ended` : `${set} REMOVE #ended, #asked`,
            ConditionExpression: asks ? `${isOther} OR (${isUnasked})` : isOther,
            ExpressionAttributeNames: { ...ExpressionAttributeNames, "#asked": "isAsked" },
            ExpressionAttributeValues: {
              ...versionOf(versionId),
              ...marshall({ ":schema": itemVersion, ...(asks && { ":asked": true }) }),
            },
            ReturnValuesOnConditionCheckFailure: "ALL_OLD",
          }),
        ),
      );
      if (conflict === undefined) return "noted";
      return conflict.isEnded?.BOOL === true ? "ended" : "known";
    },
    read: async () => {
      const { Item } = await client.send(new GetItemCommand({ ...item, ConsistentRead: true }));
      return Item && optionalText(readItem(Item), "refusedVersion");
    },
    claimRefresh: (now) =>
      isWritten(
        client.send(
          new UpdateItemCommand({
            ...item,
            UpdateExpression: "SET #claimed = :now, schemaVersion = :schema",
            // A claim too far in the future comes from a wrong clock and must not block.
            ConditionExpression:
              "attribute_not_exists(#claimed) OR NOT #claimed BETWEEN :minuteAgo AND :minuteAhead",
            ExpressionAttributeNames: { "#claimed": "refreshClaimedAt" },
            ExpressionAttributeValues: marshall({
              ":now": now.getTime(),
              ":minuteAgo": now.getTime() - 60_000 + 1,
              ":minuteAhead": now.getTime() + 60_000,
              ":schema": itemVersion,
            }),
          }),
        ),
      ),
    conclude: async (versionId, isEnded) => {
      await isWritten(
        client.send(
          new UpdateItemCommand({
            ...item,
            UpdateExpression: "SET #ended = :ended",
            ConditionExpression: "#version = :version",
            ExpressionAttributeNames,
            ExpressionAttributeValues: { ...versionOf(versionId), ":ended": { BOOL: isEnded } },
          }),
        ),
      );
    },
  };
}

/** One process's cache of refused tokens: a burst of refusals costs one write and one refresh request. */
export type TokenRefusals = {
  /** Whether the refresher found this version unusable. Calls with it are skipped. */
  readonly isEnded: (versionId: string) => boolean;
  /** Reports that a version was refused, even after the secret was read again. */
  readonly report: (versionId: string) => Promise<void>;
};

/** How long a process skips calls with an unusable version before it tries again. */
const endedForInSeconds = 60;
/** How long a process waits before it checks a reported version again. The refresher takes a few seconds. */
const knownForInSeconds = 5;

/**
 * @param askRefresh starts the refresher, which reads the note. If absent or failing, the next scheduled run reads
 * it.
 */
export function tokenRefusals(
  { note }: Pick<RefusalNote, "note">,
  askRefresh: (() => Promise<void>) | undefined,
  now: () => Date,
): TokenRefusals {
  let last: { readonly versionId: string; readonly since: number; readonly isEnded: boolean } | undefined;
  let reporting: Promise<void> = Promise.resolve();
  const isKnown = (versionId: string): boolean => {
    if (last?.versionId !== versionId) return false;
    const seconds = last.isEnded ? endedForInSeconds : knownForInSeconds;
    return now().getTime() - last.since < seconds * 1000;
  };

  const report = async (versionId: string) => {
    if (isKnown(versionId)) return;
    const answer = await note(versionId, askRefresh !== undefined);
    last = { versionId, since: now().getTime(), isEnded: answer === "ended" };
    if (answer === "noted") await askRefresh?.().catch(() => undefined);
  };
  return {
    isEnded: (versionId) => isKnown(versionId) && last?.isEnded === true,
    report: (versionId) => {
      // Sequential, so that concurrent callers use what the first one learned.
      const turn = reporting.then(() => report(versionId));
      reporting = turn.catch(() => undefined);
      return turn;
    },
  };
}
