import { listDeadLetters } from "../../commands/dlq-list.ts";
import { purgeQueue } from "../../commands/dlq-purge.ts";
import { redriveQueue } from "../../commands/dlq-redrive.ts";
import { showDeadLetters } from "../../commands/dlq-show.ts";
import { CommandError } from "../../core/command-error.ts";
import type { Jobs } from "../jobs.ts";
import { type Asked, checkTyped, optionalTextIn, param, type Route, textIn } from "../route.ts";
import { runCommand } from "../run-command.ts";

/** So many are sent or shown at most at once. */
const perStep = "1000";

export function deadLetterRoutes(jobs: Jobs): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/dead-letters",
      answer: ({ operation }) => runCommand(operation, listDeadLetters),
    },
    {
      method: "GET",
      path: "/api/dead-letters/of",
      answer: ({ operation }, asked) => {
        const { reason, id } = { reason: param(asked, "reason"), id: param(asked, "id") };
        const flags = {
          limit: param(asked, "limit") ?? perStep,
          archive: param(asked, "archive") === "yes",
          ...(reason !== undefined && { reason }),
          ...(id !== undefined && { id }),
        };
        return runCommand(operation, (each) => showDeadLetters(each, flags, param(asked, "queue")));
      },
    },
    {
      // A look: it is written into the audit trail, and changes nothing else.
      method: "POST",
      path: "/api/dead-letters/reveal",
      answer: ({ operation }, asked) => {
        const flags = {
          limit: "1",
          reveal: true,
          id: textIn(asked, "id"),
          archive: asked.body.archive === true,
        };
        return runCommand(operation, (each) => showDeadLetters(each, flags, textIn(asked, "queue")));
      },
    },
    {
      method: "POST",
      path: "/api/dead-letters/redrive",
      changes: true,
      answer: async ({ operation }, asked) => {
        const queue = textIn(asked, "queue");
        const flags = { ...selectionIn(asked), limit: perStep, archive: asked.body.archive === true };
        return jobs.start(`Redrive dead letters of ${queue}`, (onProgress) =>
          runCommand(operation, (each) => redriveQueue(each, flags, queue), { onProgress }),
        );
      },
    },
    {
      method: "POST",
      path: "/api/dead-letters/purge",
      changes: true,
      answer: async ({ operation }, asked) => {
        const queue = textIn(asked, "queue");
        checkTyped(asked, queue);
        const options = { isAgreed: true };
        return jobs.start(`Purge dead letters of ${queue}`, (onProgress) =>
          runCommand(operation, (each) => purgeQueue(each, selectionIn(asked), queue), {
            ...options,
            onProgress,
          }),
        );
      },
    },
    {
      method: "GET",
      path: "/api/job",
      answer: async (_, asked) => {
        const job = jobs.find(param(asked, "id") ?? "");
        if (job === undefined) throw new CommandError("nobody", "The console knows no such work any more.");
        return job;
      },
    },
  ];
}

function selectionIn(asked: Asked): { readonly reason?: string; readonly id?: string } {
  const { reason, id } = { reason: optionalTextIn(asked, "reason"), id: optionalTextIn(asked, "id") };
  return { ...(reason !== undefined && { reason }), ...(id !== undefined && { id }) };
}
