import { DeleteItemCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { parseReplayRun, type ReplayRun } from "../../domain/recovery/replay-run.ts";
import { type Checkpoint, checkpointAt } from "../streams/checkpoint.ts";
import { replayKey } from "./keys.ts";

/** Stores the progress of a replay, so that anybody with access to the table can resume it. */
export type ReplayCheckpoint = Checkpoint<ReplayRun> & { readonly remove: () => Promise<void> };

/** How long an interrupted replay can be resumed. */
const keptForSeconds = 7 * 86_400;

export function replayRuns(
  client: DynamoDBClient,
  tableName: string,
  now: () => Date,
): (id: string) => ReplayCheckpoint {
  return (id) => ({
    ...checkpointAt(client, tableName, {
      key: replayKey(id),
      attribute: "replay",
      parse: parseReplayRun,
      expiresAt: () => Math.floor(now().getTime() / 1000) + keptForSeconds,
    }),
    remove: async () => {
      await client.send(new DeleteItemCommand({ TableName: tableName, Key: marshall(replayKey(id)) }));
    },
  });
}
