import { readChange, type StreamRecord } from "../../adapters/change-stream.ts";
import type { FindErased } from "../../adapters/tombstones.ts";
import { type Change, type Consequence, consequencesOf } from "../../domain/changes.ts";
import { erasureOnDeletion, lateArrival, subjectsIn, writeEraseTask } from "../../domain/erasure.ts";
import { type Failure, failureOf } from "../../domain/failures.ts";
import type { Subject } from "../../domain/subjects.ts";
import type { Log } from "../runtime/log.ts";

/** A record of the batch on its way: what it leads to, and what has failed, if anything. */
export type Step = { readonly consequences: readonly Consequence[]; failure: Failure | undefined };

export type DeriveDependencies = {
  readonly findErased: FindErased;
  /** Whether a user is erased whose deletion is certain. */
  readonly erasesOnDeletion: boolean;
  /** The `source` of subscribers' messages. */
  readonly eventSource: string;
  readonly log: Log;
};

/** A change that was read, with whom it speaks of and what follows unless one of them is erased. */
type Derived = {
  readonly change: Change;
  readonly subjects: readonly Subject[];
  readonly consequences: readonly Consequence[];
};

/** What each change leads to: of one who is erased to nothing but the erasure of what came late. */
export async function derive(
  records: readonly StreamRecord[],
  dependencies: DeriveDependencies,
): Promise<readonly Step[]> {
  const all = records.map((record) => attempt(() => deriveOne(record, dependencies)));
  const subjects = all.flatMap((each) => ("kind" in each ? [] : each.subjects));
  // One read for the whole batch. Without its answer nothing is relayed: it all comes again.
  const erased = await dependencies.findErased(subjects).catch(failureOf);
  if ("kind" in erased) return all.map(() => failed(erased));
  const late = new Set<string>();
  return all.map((each) =>
    "kind" in each ? failed(each) : unlessErased(each, erased, late, dependencies.log),
  );
}

function deriveOne(record: StreamRecord, { erasesOnDeletion, eventSource }: DeriveDependencies): Derived {
  const change = readChange(record);
  const erasure = erasesOnDeletion ? erasureOnDeletion(change) : undefined;
  return {
    change,
    subjects: subjectsIn(change),
    consequences: [
      ...consequencesOf(change, eventSource),
      ...(erasure === undefined ? [] : [{ do: "erase", task: erasure } as const]),
    ],
  };
}

/** @param sent tasks of records before it, so that a batch asks for each erasure once */
function unlessErased(
  { change, consequences }: Derived,
  erased: ReadonlySet<string>,
  sent: Set<string>,
  log: Log,
): Step {
  const task = lateArrival(change, erased);
  if (task === undefined) return { consequences, failure: undefined };
  log("ARRIVED_LATE");
  const text = writeEraseTask(task);
  const isSent = sent.has(text);
  sent.add(text);
  return { consequences: isSent ? [] : [{ do: "erase", task }], failure: undefined };
}

function failed(failure: Failure): Step {
  return { consequences: [], failure };
}

function attempt<T>(run: () => T): T | Failure {
  try {
    return run();
  } catch (error) {
    return failureOf(error);
  }
}
