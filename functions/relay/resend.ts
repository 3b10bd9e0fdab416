import type { ParkedBatch } from "../../adapters/streams/parked-changes.ts";
import { failureOf } from "../../domain/core/failures.ts";
import type { Publish } from "../runtime/subscriber-queues.ts";
import { stepsOf } from "./attributes.ts";
import { derive, latenciesOf, type RelayDependencies, type Step } from "./derive.ts";

/** How to resend parked messages. */
export type Resending = {
  /** By subscriber name: sends to this subscriber only. */
  readonly publishTo: ReadonlyMap<string, Publish>;
  readonly parkedFor: (subscriber: string) => Promise<readonly ParkedBatch[]>;
  /** Parking for longer than this raises the alarm. */
  readonly lastsSeconds: number;
  /** Time after which a run starts no further batch. */
  readonly longestRunSeconds: number;
};

/**
 * Resends messages that were parked for subscribers. They are derived from the changes again, without those
 * about subjects erased since. If a run is killed, the next one may send some again.
 */
export async function resendParked(dependencies: RelayDependencies, resending: Resending): Promise<void> {
  const end = dependencies.now().getTime() + resending.longestRunSeconds * 1_000;
  await Promise.all(
    [...resending.publishTo].map((subscriber) => resendTo(subscriber, dependencies, resending, end)),
  );
}

async function resendTo(
  [subscriber, publish]: readonly [string, Publish],
  dependencies: RelayDependencies,
  { parkedFor, lastsSeconds }: Resending,
  end: number,
): Promise<void> {
  const { now, log } = dependencies;
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
  dependencies: RelayDependencies,
): Promise<readonly Step[] | string> {
  const derived = derive(await parked.read(), dependencies);
  const steps = await stepsOf(derived, dependencies);
  const unread = steps.find(({ failure }) => failure !== undefined)?.failure;
  if (unread !== undefined) return unread.reason;
  const messages = steps.flatMap(({ consequences }, index) =>
    consequences.flatMap((each) =>
      each.type === "publish" ? [{ index, message: each.message, storage: each.storage }] : [],
    ),
  );
  const [refused] = await publish(messages);
  if (refused !== undefined) return refused.failure.reason;
  await parked.remove();
  return steps.filter((_, index) => messages.some((message) => message.index === index));
}
