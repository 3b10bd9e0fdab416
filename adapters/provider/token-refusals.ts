import { type DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { optionalText } from "../../domain/core/parse.ts";
import { conflictOf, isWritten, itemReader } from "../dynamodb/batching.ts";
import { itemVersion, refusalNoteKey } from "../dynamodb/keys.ts";

/**
 * The note of the token version that the provider refuses: one item for all functions. The first to note a version
 * requests a refresh. The refresher reads the note in each run, so that no request is lost.
 */
export class RefusalNote {
  readonly #client: DynamoDBClient;
  readonly #tableName: string;

  constructor(client: DynamoDBClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /**
   * @param asks whether the caller then requests a refresh
   * @returns "noted" for the first caller, and for the first that requests a refresh; "ended" if the version is
   * unusable
   */
  async note(versionId: string, asks = true): Promise<"noted" | "known" | "ended"> {
    const isOther = "attribute_not_exists(refusedVersion) OR refusedVersion <> :version";
    // The first to note it may not have requested a refresh.
    const isUnasked = "attribute_not_exists(isEnded) AND attribute_not_exists(isAsked)";
    const set = "SET refusedVersion = :version, schemaVersion = :schema";
    const conflict = await conflictOf(
      this.#update(
        asks ? `${set}, isAsked = :asked REMOVE isEnded` : `${set} REMOVE isEnded, isAsked`,
        asks ? `${isOther} OR (${isUnasked})` : isOther,
        { ":version": versionId, ":schema": itemVersion, ...(asks && { ":asked": true }) },
      ),
    );
    if (conflict === undefined) return "noted";
    return conflict.isEnded?.BOOL === true ? "ended" : "known";
  }

  /** The version that was noted last. */
  async read(): Promise<string | undefined> {
    const fields = await this.#load();
    return fields && optionalText(fields, "refusedVersion");
  }

  /** `noted` if a call with this version was refused, `ended` if it is unusable. For operators. */
  async statusOf(versionId: string): Promise<"none" | "noted" | "ended"> {
    const note = await this.#load();
    if (note?.refusedVersion !== versionId) return "none";
    // The refresher has since proven the token: the refusal was about that call's path.
    if (note.isEnded === false) return "none";
    return note.isEnded === true ? "ended" : "noted";
  }

  /**
   * Claims the one refresh call of this minute, across all runs of the refresher.
   * @returns false if another run claimed it less than a minute ago
   */
  claimRefresh(now: Date): Promise<boolean> {
    const time = now.getTime();
    // A claim too far in the future comes from a wrong clock and must not block.
    const isFree = "attribute_not_exists(refreshClaimedAt) OR NOT refreshClaimedAt BETWEEN :from AND :to";
    const values = { ":now": time, ":from": time - 60_000 + 1, ":to": time + 60_000, ":schema": itemVersion };
    return isWritten(this.#update("SET refreshClaimedAt = :now, schemaVersion = :schema", isFree, values));
  }

  /** Records whether a noted version is unusable. Does nothing if the note is about another version. */
  async conclude(versionId: string, isEnded: boolean): Promise<void> {
    const values = { ":version": versionId, ":ended": isEnded };
    await isWritten(this.#update("SET isEnded = :ended", "refusedVersion = :version", values));
  }

  #load() {
    return itemReader(this.#client, this.#tableName)(refusalNoteKey);
  }

  #update(
    UpdateExpression: string,
    ConditionExpression: string,
    values: Readonly<Record<string, string | number | boolean>>,
  ) {
    return this.#client.send(
      new UpdateItemCommand({
        TableName: this.#tableName,
        Key: marshall(refusalNoteKey),
        UpdateExpression,
        ConditionExpression,
        ExpressionAttributeValues: marshall(values),
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    );
  }
}

/** How long a process skips calls with an unusable version before it tries again. */
const endedForInSeconds = 60;
/** How long a process waits before it checks a reported version again. The refresher takes a few seconds. */
const knownForInSeconds = 5;

/** One process's cache of refused tokens: a burst of refusals costs one write and one refresh request. */
export class TokenRefusals {
  readonly #note: Pick<RefusalNote, "note">;
  readonly #askRefresh: (() => Promise<void>) | undefined;
  readonly #now: () => Date;
  #last: { readonly versionId: string; readonly since: number; readonly isEnded: boolean } | undefined;
  #reporting: Promise<void> = Promise.resolve();

  /** @param askRefresh starts the refresher; if absent or failing, its next scheduled run reads the note */
  constructor(
    note: Pick<RefusalNote, "note">,
    askRefresh: (() => Promise<void>) | undefined,
    now: () => Date,
  ) {
    this.#note = note;
    this.#askRefresh = askRefresh;
    this.#now = now;
  }

  /** Whether the refresher found this version unusable. Calls with it are skipped. */
  isEnded(versionId: string): boolean {
    return this.#isKnown(versionId) && this.#last?.isEnded === true;
  }

  /** Reports that a version was refused, even after the secret was read again. */
  report(versionId: string): Promise<void> {
    // Sequential, so that concurrent callers use what the first one learned.
    const turn = this.#reporting.then(() => this.#report(versionId));
    this.#reporting = turn.catch(() => undefined);
    return turn;
  }

  async #report(versionId: string): Promise<void> {
    if (this.#isKnown(versionId)) return;
    const answer = await this.#note.note(versionId, this.#askRefresh !== undefined);
    this.#last = { versionId, since: this.#now().getTime(), isEnded: answer === "ended" };
    if (answer === "noted") await this.#askRefresh?.().catch(() => undefined);
  }

  #isKnown(versionId: string): boolean {
    if (this.#last?.versionId !== versionId) return false;
    const seconds = this.#last.isEnded ? endedForInSeconds : knownForInSeconds;
    return this.#now().getTime() - this.#last.since < seconds * 1000;
  }
}
