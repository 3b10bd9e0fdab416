import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { optionalText } from "../../domain/core/parse.ts";
import { conflictOf, isWritten } from "../dynamodb/conditional-write.ts";
import { itemVersion, readItem } from "../dynamodb/items.ts";
import { refusalNoteKey } from "../dynamodb/keys.ts";

/**
 * The note of the token's version that the provider refuses: one item of the table for all functions. Whoever notes
 * a version first asks for a refresh; the refresher reads the note in each run, so that a request can't be lost.
 */
export type RefusalNote = {
  /**
   * @param asks whether the caller asks for a refresh then; default true
   * @returns "noted" for the first one that asks, and the first one; "ended" where nothing helps this version
   */
  readonly note: (versionId: string, asks?: boolean) => Promise<"noted" | "known" | "ended">;
  readonly read: () => Promise<string | undefined>;
  /**
   * Claims the one refresh call of this minute, for all runs of the refresher together.
   * @returns false where another claimed it less than a minute ago
   */
  readonly claimRefresh: (now: Date) => Promise<boolean>;
  /** Says of a noted version whether it is of no use any more; a note of another version is left alone. */
  readonly conclude: (versionId: string, isEnded: boolean) => Promise<void>;
};

/**
 * What is known of a version of the token: `noted` where a call was refused with it, `ended` where nothing helps it.
 * For operators, who change nothing by looking.
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
  // Proven since: that a call was refused was its path's own matter.
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
      // Whoever noted it first may be one that asks nobody.
      const isUnasked = "attribute_not_exists(#ended) AND attribute_not_exists(#asked)";
      const set = "SET #version = :version, schemaVersion = :schema";
      const known = await conflictOf(
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
      if (known === undefined) return "noted";
      return known.isEnded?.BOOL === true ? "ended" : "known";
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
            // A time ahead of this run's is a wrong clock's, and holds up nobody.
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

/** What one process knows of refused tokens, so that a burst of refusals costs one write and asks once. */
export type TokenRefusals = {
  /** Whether the refresher found that this version is of no use: calls with it are spared. */
  readonly isEnded: (versionId: string) => boolean;
  /** Reports that a version was refused, also when the secret had been read again. */
  readonly report: (versionId: string) => Promise<void>;
};

/** For so long a process spares calls with a version of no use; then it sees for itself. */
const endedForInSeconds = 60;
/** So soon it asks again whether a version that it has reported is of no use: the refresher takes a few seconds. */
const knownForInSeconds = 5;

/**
 * @param askRefresh wakes the refresher, which reads the note; without it, or should it fail, its next scheduled run
 * does
 */
export function tokenRefusals(
  { note }: Pick<RefusalNote, "note">,
  askRefresh: (() => Promise<void>) | undefined,
  now: () => Date,
): TokenRefusals {
  let known: { readonly versionId: string; readonly since: number; readonly isEnded: boolean } | undefined;
  let reporting: Promise<void> = Promise.resolve();
  const isKnown = (versionId: string): boolean => {
    if (known?.versionId !== versionId) return false;
    const seconds = known.isEnded ? endedForInSeconds : knownForInSeconds;
    return now().getTime() - known.since < seconds * 1000;
  };

  const report = async (versionId: string) => {
    if (isKnown(versionId)) return;
    const answer = await note(versionId, askRefresh !== undefined);
    known = { versionId, since: now().getTime(), isEnded: answer === "ended" };
    if (answer === "noted") await askRefresh?.().catch(() => undefined);
  };
  return {
    isEnded: (versionId) => isKnown(versionId) && known?.isEnded === true,
    report: (versionId) => {
      // One after the other: those who come with the first find what it has learned.
      const turn = reporting.then(() => report(versionId));
      reporting = turn.catch(() => undefined);
      return turn;
    },
  };
}
