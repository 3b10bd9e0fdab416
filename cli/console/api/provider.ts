import { reconcileNow } from "../../commands/reconcile-now.ts";
import { runReplay } from "../../commands/replay.ts";
import { testSubscriber } from "../../commands/subscribers-test.ts";
import { refreshToken } from "../../commands/token-refresh.ts";
import { registerNow } from "../../commands/webhooks-register.ts";
import { providerStatus } from "../../provider/provider-status.ts";
import type { Jobs } from "../jobs.ts";
import { type Asked, checkTyped, optionalTextIn, type Route, textIn } from "../route.ts";
import { runCommand } from "../run-command.ts";

export const providerRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/provider",
    answer: ({ operation: { deployment, clients }, now }) => providerStatus(deployment, clients, now()),
  },
  {
    method: "POST",
    path: "/api/provider/refresh",
    changes: true,
    answer: ({ operation }) => runCommand(operation, (each) => refreshToken(each, { now: true })),
  },
  {
    method: "POST",
    path: "/api/provider/register",
    changes: true,
    answer: ({ operation }) => runCommand(operation, (each) => registerNow(each, {})),
  },
  {
    method: "POST",
    path: "/api/provider/reconcile",
    changes: true,
    answer: ({ operation }) => runCommand(operation, reconcileNow),
  },
];

/** Of subscribers: what is sent to them again, and to see whether they read. */
export function subscriberRoutes(jobs: Jobs): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/api/subscribers/test",
      changes: true,
      answer: ({ operation }, asked) =>
        runCommand(operation, (each) => testSubscriber(each, {}, textIn(asked, "name"))),
    },
    {
      // It counts, and sends nothing. In AWS it reads the table, which is billed: the page has said so.
      method: "POST",
      path: "/api/replay/count",
      changes: true,
      answer: async ({ operation }, asked) =>
        jobs.start(`Count what a replay sends to ${textIn(asked, "name")}`, (onProgress) =>
          runCommand(operation, (each) => runReplay(each, { ...replayFlags(asked), dryRun: true }), {
            isAgreed: asked.body.scan === true,
            onProgress,
          }),
        ),
    },
    {
      method: "POST",
      path: "/api/replay",
      changes: true,
      answer: async ({ operation }, asked) => {
        checkTyped(asked, textIn(asked, "name"));
        return jobs.start(`Replay to ${textIn(asked, "name")}`, (onProgress) =>
          runCommand(operation, (each) => runReplay(each, replayFlags(asked)), {
            isAgreed: true,
            onProgress,
          }),
        );
      },
    },
  ];
}

function replayFlags(asked: Asked) {
  const since = optionalTextIn(asked, "since");
  return { subscriber: textIn(asked, "name"), ...(since !== undefined && { since }) };
}
