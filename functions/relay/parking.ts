import type { DynamoDBRecord } from "aws-lambda";
import type { StreamRecord } from "../../adapters/streams/change-stream.ts";
import type { Log } from "../runtime/log.ts";
import type { RelayDependencies } from "./derive.ts";

/** Younger records are not marked: they have hardly been tried, and each mark costs a write. */
const unmarkedInSeconds = 60;
/** A record that ends the process this many times is parked. A single timeout may be the table's fault. */
const mostEndings = 5;

/**
 * Runs a batch and counts how often a record ends the process (a timeout, lack of memory, a crash). Lambda
 * halves a failed batch until such a record is alone. The record is marked before the work and unmarked after
 * it, so marks count the ends of processes. After too many marks the record is parked.
 */
export async function runMarked<T>(
  records: readonly DynamoDBRecord[],
  run: () => Promise<T>,
  parked: T,
  { marks, park, now, log }: Pick<RelayDependencies, "marks" | "park" | "now" | "log">,
): Promise<T> {
  const [record, ...others] = records;
  const id = record === undefined || others.length > 0 ? undefined : idOfOld(record, now());
  if (record === undefined || id === undefined) return run();
  // If the table does not answer, the work fails without ending the process.
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
