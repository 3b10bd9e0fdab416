import { startImplementation } from "../drive/running-implementation.ts";
import { spendingOf } from "../measure/spending.ts";
import type { Context } from "../measurement.ts";
import { startProvider } from "../provider.ts";
import { workload } from "../workload.ts";
import { absoluteRow, type Row } from "./row.ts";

/** Leases of the provider's rate follow the clock: a load takes one more of them, or one less, in a hundred requests. */
const nothingMore = { atMost: 1.01 };

type Counted = { readonly requests: number; readonly writeUnits: number };

/** What documents in messages cost beyond references to them: requests to table, queues and buckets, and writes. */
export async function inlineRows(context: Context): Promise<readonly Row[]> {
  const byReference = await countsOf(context, false);
  const inline = await countsOf(context, true);
  const row = (name: string, figure: string, ratio: number) =>
    absoluteRow({ name, figure }, [ratio], nothingMore, context.estimate);
  return [
    row(
      "inline-requests",
      "requests with documents in messages, over those by reference",
      inline.requests / byReference.requests,
    ),
    row(
      "inline-writes",
      "write units with documents in messages, over those by reference",
      inline.writeUnits / byReference.writeUnits,
    ),
  ];
}

/** Of one load, which is the same each time. @throws where no document was in a message, or any was that may not be */
async function countsOf({ assemblies, effort, onProgress }: Context, isInline: boolean): Promise<Counted> {
  onProgress(`documents ${isInline ? "in messages" : "by reference"}`);
  await using provider = await startProvider();
  await using ours = await startImplementation("ours", provider, { isInline, assemblies });
  const load = workload({ seed: 7_000, events: effort.spending.events, duplicates: 0 });
  let contents = 0;
  const endCount = ours.stack.gateway.intercept(async ({ action, principal, body }, phase) => {
    if (phase === "before" && action === "sqs:SendMessageBatch" && principal !== "operator")
      contents += String(body).split('\\"content\\":').length - 1;
    return undefined;
  });
  const { writeUnits } = await spendingOf(ours, load, provider.calls);
  endCount();
  if (contents > 0 !== isInline) throw new Error(`${contents} documents were in messages`);
  return { requests: requestsOfFunctions(ours.stack.gateway.calls()), writeUnits };
}

/** Without reads of secrets, which follow the time. */
function requestsOfFunctions(calls: ReadonlyMap<string, number>): number {
  return [...calls]
    .filter(([key]) => !key.startsWith("operator ") && / (?:dynamodb|sqs|s3):/.test(key))
    .reduce((sum, [, count]) => sum + count, 0);
}
