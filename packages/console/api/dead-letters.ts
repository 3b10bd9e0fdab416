import {
  listDeadLetters,
  purgeQueue,
  redriveQueue,
  showDeadLetters,
} from "@income-events/cli/commands/dlq.ts";
import type { Operation } from "@income-events/cli/core/command.ts";
import { CommandError } from "@income-events/cli/core/command-error.ts";
import type { OnEach } from "@income-events/cli/dead-letters/redrive.ts";
import type { Selection } from "@income-events/cli/dead-letters/selection.ts";
import { repairFailures } from "@income-events/cli/recovery/repair.ts";
import { relayInvoker } from "../../../adapters/aws/relay-invoker.ts";
import { type FailedBatch, failedBatches } from "../../../adapters/streams/undelivered-changes.ts";
import { mutex } from "../../../domain/core/batches.ts";
import { present } from "../../../domain/core/parse.ts";
import {
  type Asked,
  type CommandOutcome,
  change,
  type Job,
  type Jobs,
  look,
  type Route,
  read,
  runCommand,
  type Work,
} from "../route.ts";

/** Maximum to send or show at once. */
const perStep = "1000";
/** Jobs that this page shows. */
const topic = "dead-letters";

export function deadLetterRoutes(jobs: Jobs): readonly Route[] {
  // Two readers of a queue would hide its dead letters from each other.
  const next = mutex();
  return [
    read("/api/dead-letters", ({ operation }) => next(() => runCommand(operation, listDeadLetters))),
    read("/api/dead-letters/of", ({ operation }, asked) => {
      const [limit, archive] = [asked.param("limit") ?? perStep, asked.param("archive") === "yes"];
      const selection = present<Selection>({ reason: asked.param("reason"), id: asked.param("id") });
      const flags = { limit, archive, ...selection };
      return next(() => runCommand(operation, (each) => showDeadLetters(each, flags, asked.param("queue"))));
    }),
    look("/api/dead-letters/reveal", ({ operation }, asked) => {
      const archive = asked.body.archive === true;
      const flags = { limit: "1", reveal: true, id: asked.text("id"), archive };
      const queue = asked.text("queue");
      return next(() => runCommand(operation, (each) => showDeadLetters(each, flags, queue)));
    }),
    change("/api/dead-letters/redrive", async ({ operation }, asked) => {
      const queue = asked.text("queue");
      const flags = { ...selectionIn(asked), limit: perStep, archive: asked.body.archive === true };
      const work: Work = (onProgress, onEach) => {
        const redrive = (each: Operation) => redriveQueue(each, flags, { name: queue, onEach });
        return next(() => runCommand(operation, redrive, { onProgress }));
      };
      return jobs.start(`Redrive dead letters of ${queue}`, work, topic);
    }),
    change("/api/dead-letters/purge", async ({ operation }, asked) => {
      const queue = asked.text("queue");
      asked.checkTyped(queue);
      const flags = { ...selectionIn(asked), limit: perStep };
      const work: Work = (onProgress, onEach) => {
        const purge = (each: Operation) => purgeQueue(each, flags, { name: queue, onEach });
        return next(() => runCommand(operation, purge, { isAgreed: true, onProgress }));
      };
      return jobs.start(`Purge dead letters of ${queue}`, work, topic);
    }),
    ...relayFailureRoutes(jobs),
    ...jobRoutes(jobs),
  ];
}

/** Batches of changes that the relay parked. */
function relayFailureRoutes(jobs: Jobs): readonly Route[] {
  return [
    read("/api/relay-failures", async ({ operation }) => ({
      batches: (await Array.fromAsync(batchesOf(operation))).length,
    })),
    change("/api/relay-failures/repair", async ({ operation }) => {
      const work: Work = async (_, onEach) => relayAgain(operation, onEach);
      return jobs.start("Relay undelivered changes", work, topic);
    }),
  ];
}

async function* batchesOf({ deployment, clients }: Operation): AsyncGenerator<FailedBatch> {
  let count = 0;
  for await (const batch of failedBatches(clients.s3, deployment.output("FailuresBucketName"))) {
    yield batch;
    count += 1;
    if (count === Number(perStep)) return;
  }
}

/** A batch that can't be relayed completely stays, and reports why. */
async function relayAgain(operation: Operation, onEach: OnEach): Promise<CommandOutcome> {
  const { deployment, clients } = operation;
  const relay = relayInvoker(clients.lambda, deployment.output("RelayFunctionName"));
  const onRelayed = (_: number, id: string) => onEach({ id, result: "relayed, and removed" });
  const { kept, ...repaired } = await repairFailures(batchesOf(operation), relay, false, onRelayed);
  for (const { key: id, reason } of kept) onEach({ id, result: `it stays: ${reason}` });
  return { ...repaired, kept: kept.length };
}

/** Jobs that any page started; they survive the page. */
function jobRoutes(jobs: Jobs): readonly Route[] {
  const jobIn = (asked: Asked): Job => {
    const job = jobs.find(asked.param("id") ?? "");
    if (job === undefined) throw new CommandError("nobody", "This action has expired. Refresh the page.");
    return job;
  };
  return [
    read("/api/job", async (_, asked) => jobIn(asked)),
    read("/api/job/results", async (_, asked) => ({ results: jobs.resultsOf(jobIn(asked).id) })),
    read("/api/jobs", async (_, asked) => ({ jobs: jobs.list(asked.param("of") ?? "") })),
  ];
}

function selectionIn(asked: Asked): Selection {
  return present<Selection>({ reason: asked.optionalText("reason"), id: asked.optionalText("id") });
}
