import type { StreamRecord } from "../../../adapters/streams/change-stream.ts";
import { followStream } from "../../../adapters/streams/stream-follower.ts";
import { streamOf } from "../../../adapters/streams/table-stream.ts";
import type { Operation } from "../core/command.ts";
import { awaitInterruption, waitUnlessAborted } from "../core/interruption.ts";

/**
 * The changes of the stage's table from now on, until Ctrl-C.
 * @param what follows "Following" in the progress line once the reader is ready
 */
export async function* followTable(
  { deployment, clients, terminal }: Operation,
  what: string,
): AsyncGenerator<StreamRecord> {
  using interruption = awaitInterruption();
  const { signal } = interruption;
  const stream = await streamOf(clients.dynamodb, deployment.output("TableName"));
  const records = followStream(clients.dynamodbStreams, stream, {
    signal,
    wait: (seconds) => waitUnlessAborted(seconds, signal),
    onReady: () => terminal.progress(`Following ${what}. Ctrl-C ends it.`),
    onError: (reason) => terminal.progress(`${reason}: it goes on by itself.`),
  });
  for await (const some of records) yield* some;
}
