import { reconcileNow } from "@income-events/cli/commands/reconcile.ts";
import { runControlledReplay, runReplay } from "@income-events/cli/commands/replay.ts";
import { testSubscriber } from "@income-events/cli/commands/subscribers.ts";
import { refreshToken } from "@income-events/cli/commands/token.ts";
import { registerNow } from "@income-events/cli/commands/webhooks-register.ts";
import { sinceFlag } from "@income-events/cli/core/flags.ts";
import { deliveriesTo } from "@income-events/cli/events/deliveries.ts";
import { providerHistory } from "@income-events/cli/provider/provider-history.ts";
import { providerStatus } from "@income-events/cli/provider/provider-status.ts";
import { subscriberNamed } from "@income-events/cli/status/work-queues.ts";
import type { Jobs } from "../jobs.ts";
import { type Asked, change, checkTyped, optionalTextIn, param, type Route, read, textIn } from "../route.ts";
import { runCommand } from "../run-command.ts";

export const providerRoutes: readonly Route[] = [
  read("/api/provider", ({ operation: { deployment, clients }, now }) =>
    providerStatus(deployment, clients, now()),
  ),
  read("/api/provider/history", async ({ operation, now }, asked) => {
    const since = sinceFlag(param(asked, "since") ?? "24h", now()) ?? "";
    return { since, turns: await providerHistory(operation, since) };
  }),
  change("/api/provider/refresh", ({ operation }) =>
    runCommand(operation, (each) => refreshToken(each, { now: true })),
  ),
  change("/api/provider/register", ({ operation }) => runCommand(operation, (each) => registerNow(each, {}))),
  change("/api/provider/reconcile", ({ operation }) => runCommand(operation, reconcileNow)),
];

/** Subscribers: deliveries, test messages and replays. */
export function subscriberRoutes(jobs: Jobs): readonly Route[] {
  const paused = new Set<string>();
  return [
    read("/api/deliveries", async ({ operation, now }, asked) => {
      const subscriber = subscriberNamed(operation.deployment, param(asked, "name") ?? "");
      const since = sinceFlag(param(asked, "since") ?? "1h", now()) ?? "";
      return { deliveries: await deliveriesTo(subscriber, operation, since) };
    }),
    change("/api/subscribers/test", ({ operation }, asked) =>
      runCommand(operation, (each) => testSubscriber(each, {}, textIn(asked, "name"))),
    ),
    // Counts and sends nothing. In AWS the read of the table is billed, as the page shows beforehand.
    change("/api/replay/count", async ({ operation }, asked) =>
      jobs.start(`Count what a replay sends to ${textIn(asked, "name")}`, async (onProgress) => {
        const said: string[] = [];
        const counted = await runCommand(
          operation,
          (each) => runReplay(each, { ...replayFlags(asked), dryRun: true }),
          {
            isAgreed: asked.body.scan === true,
            onProgress: (text) => {
              said.push(text);
              onProgress(text);
            },
          },
        );
        return { ...counted, price: priceOf(counted.messages, said[0]) };
      }),
    ),
    change("/api/replay", async ({ operation }, asked) => {
      const name = textIn(asked, "name");
      checkTyped(asked, name);
      paused.delete(name);
      const resume = optionalTextIn(asked, "resume");
      const flags = resume === undefined ? replayFlags(asked) : { resume };
      return jobs.start(`Replay to ${name}`, (onProgress) => {
        const control = {
          isPaused: () => paused.has(name),
          onSent: (messages: number) => onProgress(`Sent ${messages} messages so far.`),
        };
        return runCommand(operation, (each) => runControlledReplay(each, flags, control), {
          isAgreed: true,
          onProgress,
        });
      });
    }),
    // Pauses after the ten messages in progress; they are recorded, and the replay resumes after them.
    change("/api/replay/pause", async (_, asked) => {
      paused.add(textIn(asked, "name"));
      return {};
    }),
  ];
}

/** US dollars for a request of SQS (us-east-1); a message costs one at most. Source: Amazon SQS pricing. */
const dollarsPerMessage = 0.4 / 1_000_000;

/** @param reading reports the scan's progress */
function priceOf(messages: unknown, reading: string | undefined): string {
  const sending = Number(messages) * dollarsPerMessage;
  const price = sending < 0.01 ? "below US$ 0.01" : `at most US$ ${sending.toFixed(2)}`;
  return [reading ?? [], `Sending costs ${price}.`].flat().join(" ");
}

function replayFlags(asked: Asked) {
  const since = optionalTextIn(asked, "since");
  return { subscriber: textIn(asked, "name"), ...(since !== undefined && { since }) };
}
