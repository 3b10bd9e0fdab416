import type { ParkedBatch } from "../../adapters/streams/parked-changes.ts";
import { failureOf } from "../../domain/core/failures.ts";
import type { LoadState } from "../../domain/message/user-of.ts";
import type { Publish } from "../runtime/subscriber-queues.ts";
import { stepsOf } from "./attributes.ts";
import { type DeriveDependencies, derive, latenciesOf, type Step } from "./derive.ts";

export type ResendDependencies = DeriveDependencies & {
  /** By subscriber name: sends to this subscriber only. */
  readonly publishTo: ReadonlyMap<string, Publish>;
  /** Absent if messages carry no attributes. */
  readonly loadState?: LoadState;
  readonly parkedFor: (subscriber: string) => Promise<readonly ParkedBatch[]>;
  readonly now: () => Date;
  /** Parking for longer than this raises the alarm. */
  readonly lastsSeconds: number;
  /** Time after which a run starts no further batch. */
  readonly longestRunSeconds: number;
};

/**
 * Resends messages that were parked for subscribers. They are derived from the changes again, without those
 * about subjects erased since. If a run is killed, the next one may send some again.
 */
export function resender(dependencies: ResendDependencies): () => Promise<void> {
  return async () => {
    const end = dependencies.now().getTime() + dependencies.longestRunSeconds * 1_000;
    await Promise.all(
      [...dependencies.publishTo].map(([name, publish]) => resendTo(name, publish, dependencies, end)),
    );
  };
}

async function resendTo(
  subscriber: string,
  publish: Publish,
  dependencies: ResendDependencies,
  end: number,
): Promise<void> {
  const { parkedFor, now, log, lastsSeconds } = dependencies;
  const sent: Step[] = [];
  for (const parked of await parkedFor(subscriber)) {
    if (now().getTime() >= end) break;
    const outcome = await resend(parked, publish, dependencies).catch(
      (error: unknown) => failureOf(error).reason,
    );
    if (typeof outcome === "string") {
      const isLasting = now().getTime() - parked.since.getTime() > lastsSeconds * 1_000;
      if (isLasting)
        log("SUBSCRIBER_UNREACHABLE", { subscriber, reason: outcome, from: parked.since.toISOString() });
      // The queue would refuse the later batches, too.
      break;
    }
    sent.push(...outcome);
  }
  if (sent.length === 0) return;
  log("SUBSCRIBER_RESENT", { subscriber, count: sent.length, ...latenciesOf(sent, now()) });
}

/** @returns the changes whose messages were sent, or the reason why some were not */
async function resend(
  parked: ParkedBatch,
  publish: Publish,
  dependencies: ResendDependencies,
): Promise<readonly Step[] | string> {
  const derived = derive(await parked.read(), dependencies);
  const steps = await stepsOf(derived, dependencies, dependencies.loadState);
  const unread = steps.find(({ failure }) => failure !== undefined)?.failure;
  if (unread !== undefined) return unread.reason;
  const messages = steps.flatMap(({ consequences }, index) =>
    consequences.flatMap((each) =>
      each.type === "publish" ? [{ index, message: each.message, place: each.place }] : [],
    ),
  );
  const [refused] = await publish(messages);
  if (refused !== undefined) return refused.failure.reason;
  await parked.remove();
  return steps.filter((_, index) => messages.some((message) => message.index === index));
}
