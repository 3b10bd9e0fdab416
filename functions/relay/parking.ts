import type { DynamoDBRecord } from "aws-lambda";
import type { RecordMarks } from "../../adapters/dynamodb/record-marks.ts";
import type { StreamRecord } from "../../adapters/streams/change-stream.ts";
import type { Park } from "../../adapters/streams/parked-changes.ts";
import type { Log } from "../runtime/log.ts";

export type ParkingDependencies = {
  readonly marks: RecordMarks;
  readonly park: Park;
  readonly now: () => Date;
  readonly log: Log;
};

/** A record that is younger was hardly tried before: marking each would cost a write for each change that comes alone. */
const unmarkedInSeconds = 60;
/** A record that ended the process as often as this is parked: a time-out may be the table's, several are the record's. */
const mostEndings = 5;

/**
 * Runs a batch. Lambda halves a failed batch until a record that ends the process (a time-out, memory, a crash) is alone.
 * Such a record is marked before the work and unmarked after it, so that marks count the ends of processes. After too many
 * marks it is parked, and the shard goes on.
 */
export async function runMarked<T>(
  records: readonly DynamoDBRecord[],
  run: () => Promise<T>,
  parked: T,
  { marks, park, now, log }: ParkingDependencies,
): Promise<T> {
  const [record, ...others] = records;
  const id = record === undefined || others.length > 0 ? undefined : idOfOld(record, now());
  if (record === undefined || id === undefined) return run();
  // Where the table does not answer, the work fails by itself and is no ending.
  const endings = await marks.add(id).catch(() => 0);
  if (endings >= mostEndings) {
    const reason = `the process ended ${endings} times while it worked on this record`;
    await park([record], reason);
    logParked(record, { reason }, log);
    return parked;
  }
  try {
    return await run();
  } finally {
    await marks.clear(id).catch(() => undefined);
  }
}

export function logParked(
  { dynamodb }: StreamRecord,
  { reason, correlationId }: { readonly reason: string; readonly correlationId?: string | undefined },
  log: Log,
): void {
  const messageId = dynamodb?.SequenceNumber;
  log("RECORD_PARKED", { ...(messageId !== undefined && { messageId }), correlationId, reason });
}

function idOfOld({ dynamodb }: DynamoDBRecord, now: Date): string | undefined {
  const { SequenceNumber: id, ApproximateCreationDateTime: created } = dynamodb ?? {};
  if (id === undefined || created === undefined) return undefined;
  return now.getTime() / 1_000 - created >= unmarkedInSeconds ? id : undefined;
}
