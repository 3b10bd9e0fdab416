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
  agreed,
  type CommandOutcome,
  change,
  type Jobs,
  masked,
  type Route,
  read,
  runCommand,
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
    ...masked("/api/dead-letters/of", ({ operation }, asked, reveal) => {
      const selection = selectionIn(asked);
      const flags = { ...selection, ...(selection.id !== undefined && { limit: "1" }), reveal };
      return next(() => runCommand(operation, (each) => showDeadLetters(each, flags, asked.text("queue"))));
    }),
    change("/api/dead-letters/redrive", async ({ operation }, asked) => {
      const name = asked.text("queue");
      const flags = selectionIn(asked);
      const redrive = agreed(operation, (each, onEach) => redriveQueue(each, flags, { name, onEach }));
      return jobs.start(`Redrive dead letters of ${name}`, (...on) => next(() => redrive(...on)), topic);
    }),
    change("/api/dead-letters/purge", async ({ operation }, asked) => {
      const name = asked.text("queue");
      asked.checkTyped(name);
      const flags = selectionIn(asked);
      const purge = agreed(operation, (each, onEach) => purgeQueue(each, flags, { name, onEach }));
      return jobs.start(`Purge dead letters of ${name}`, (...on) => next(() => purge(...on)), topic);
    }),
    // Batches of changes that the relay parked.
    read("/api/relay-failures", async ({ operation }) => ({
      batches: (await Array.fromAsync(batchesOf(operation))).length,
    })),
    change("/api/relay-failures/repair", async ({ operation }) =>
      jobs.start("Relay undelivered changes", (_, onEach) => relayAgain(operation, onEach), topic),
    ),
    // Jobs that any page started; they survive the page.
    read("/api/job", async (_, asked) => {
      const job = jobs.find(asked.text("id"));
      if (job === undefined) throw new CommandError("nobody", "This action has expired. Refresh the page.");
      return job;
    }),
    read("/api/jobs", async (_, asked) => jobs.list(asked.text("of"))),
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

/** At most `perStep` of the dead letters with a reason or an id. */
function selectionIn(asked: Asked) {
  const selection = present<Selection>({ reason: asked.optional("reason"), id: asked.optional("id") });
  return { ...selection, limit: perStep, archive: asked.is("archive") };
}
