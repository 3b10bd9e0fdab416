import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import type { StreamRecord } from "../../adapters/change-stream.ts";
import { partitionOf } from "../../adapters/keys.ts";
import type { Link } from "../../adapters/links.ts";
import type { Revisions } from "../../adapters/revisions.ts";
import type { Consequence } from "../../domain/changes.ts";
import { type DataName, rangeOf } from "../../domain/data-name.ts";
import { want } from "../../domain/data-set.ts";
import { type Failure, FailureError, failureOf } from "../../domain/failures.ts";
import { present } from "../../domain/parse.ts";
import { judge } from "../../domain/state.ts";
import type { Subject } from "../../domain/subjects.ts";
import type { Log } from "../runtime/log.ts";
import { type DeriveDependencies, derive, type Step } from "./derive.ts";
import type { Outbox } from "./outbox.ts";

export type RelayDependencies = DeriveDependencies & {
  readonly revisions: Revisions;
  readonly link: Link;
  readonly outbox: Outbox;
  /** The kinds of subjects whose data is read by the dates that its events tell. */
  readonly readByRange: readonly string[];
};

type Inside = Extract<Consequence, { do: "judge" | "want" | "link" }>;
type Outgoing = Exclude<Consequence, Inside>;

/**
 * Relays the table's changes: writes what follows inside the table (in order within a partition), then sends
 * what leaves it. The first record that failed is told to Lambda, which hands over all from it on again.
 */
export function relay(dependencies: RelayDependencies) {
  return async ({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
    const steps = await derive(Records, dependencies);
    await writeInside(steps, dependencies);
    await dependencies.outbox(
      steps.map((step) => outgoingOf(step)),
      (index, failure) => {
        const step = steps[index];
        if (step !== undefined) step.failure ??= failure;
      },
    );
    return firstFailed(Records, steps, dependencies.log);
  };
}

function outgoingOf({ consequences, failure }: Step): readonly Outgoing[] {
  if (failure !== undefined) return [];
  return consequences.filter((consequence): consequence is Outgoing => !isInside(consequence));
}

function isInside(consequence: Consequence): consequence is Inside {
  return consequence.do === "judge" || consequence.do === "want" || consequence.do === "link";
}

async function writeInside(steps: readonly Step[], dependencies: RelayDependencies): Promise<void> {
  const partitions = new Map<string, Write[]>();
  for (const step of steps) {
    for (const consequence of step.consequences.filter(isInside)) {
      const partition = partitionOf(subjectOf(consequence));
      const writes = partitions.get(partition) ?? [];
      writes.push({ step, run: () => write(consequence, dependencies) });
      partitions.set(partition, writes);
    }
  }
  await Promise.all([...partitions.values()].map(inOrder));
}

type Write = { readonly step: Step; readonly run: () => Promise<void> };

/** What comes after a failed write of a partition fails with it: it comes again, and must not overtake it. */
async function inOrder(writes: readonly Write[]): Promise<void> {
  let failure: Failure | undefined;
  for (const { step, run } of writes) {
    failure ??= await attempt(run);
    if (failure !== undefined) step.failure ??= failure;
  }
}

async function attempt(run: () => Promise<void>): Promise<Failure | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return failureOf(error);
  }
}

function subjectOf(consequence: Inside): Subject {
  return consequence.do === "link" ? { kind: "account", id: consequence.accountId } : consequence.subject;
}

function write(consequence: Inside, { revisions, link, readByRange }: RelayDependencies): Promise<void> {
  switch (consequence.do) {
    case "judge": {
      const { subject, event, receipts } = consequence;
      return revisions.state(subject, (state) => judge(state, event, receipts));
    }
    case "want": {
      const { subject, endpoint, event, receipts } = consequence;
      const range = readByRange.includes(subject.kind) ? rangeOf(event) : undefined;
      const name = present<DataName>({ endpoint, range });
      return revisions.dataSet(subject, name, (known) => want(known, subject, name, event, receipts));
    }
    case "link":
      return link(consequence.userId, consequence.accountId);
  }
}

function firstFailed(
  records: readonly StreamRecord[],
  steps: readonly Step[],
  log: Log,
): DynamoDBBatchResponse {
  const index = steps.findIndex(({ failure }) => failure !== undefined);
  const failure = steps[index]?.failure;
  if (failure === undefined) return { batchItemFailures: [] };
  const itemIdentifier = records[index]?.dynamodb?.SequenceNumber;
  log("RECORD_FAILED", {
    ...(itemIdentifier === undefined ? {} : { messageId: itemIdentifier }),
    reason: failure.reason,
  });
  // Nothing could be told about a record without a number: then the whole batch fails.
  if (itemIdentifier === undefined) throw new FailureError(failure);
  return { batchItemFailures: [{ itemIdentifier }] };
}
