import { type DocumentFlags, getDocument } from "@income-events/cli/commands/documents.ts";
import { reconcileNow } from "@income-events/cli/commands/reconcile.ts";
import { runReplay } from "@income-events/cli/commands/replay.ts";
import {
  advanceSandbox,
  failSandbox,
  healSandbox,
  sandboxToken,
} from "@income-events/cli/commands/sandbox.ts";
import { testSubscriber } from "@income-events/cli/commands/subscribers.ts";
import { refreshToken, setGivenToken } from "@income-events/cli/commands/token.ts";
import { triggerEvent } from "@income-events/cli/commands/trigger.ts";
import { registerNow } from "@income-events/cli/commands/webhooks-register.ts";
import type { Operation } from "@income-events/cli/core/command.ts";
import { CommandError } from "@income-events/cli/core/command-error.ts";
import { checkMapping, readStageMapping, type StageMapping } from "@income-events/cli/core/stage-settings.ts";
import { documentHistory, documentPorts } from "@income-events/cli/documents/document-list.ts";
import { deliveriesTo } from "@income-events/cli/events/deliveries.ts";
import { tryMapping } from "@income-events/cli/mapping/trial.ts";
import { historyLines, providerHistory } from "@income-events/cli/provider/provider-history.ts";
import { providerStatus } from "@income-events/cli/provider/provider-status.ts";
import { subscriberNamed, subscriberQueues } from "@income-events/cli/status/work-queues.ts";
import { jmespathSearch } from "../../adapters/aws/jmespath-search.ts";
import { present } from "../../domain/core/parse.ts";
import { webhookKinds } from "../../domain/event/events.ts";
import { deadLetterRoutes } from "./api/dead-letters.ts";
import { eventRoutes } from "./api/events.ts";
import { overviewRoutes } from "./api/overview.ts";
import { recordRoutes, subjectIn } from "./api/records.ts";
import { createHistories } from "./history.ts";
import {
  type Asked,
  type ConsoleContext,
  change,
  type Jobs,
  look,
  masked,
  type Route,
  read,
  runCommand,
  sinceIn,
} from "./route.ts";

/** Documents and their stored versions. */
export const documentRoutes: readonly Route[] = [
  read("/api/documents", ({ operation, now }, asked) =>
    documentHistory(subjectIn(asked), documentPorts(operation, now)),
  ),
  // A version of a document, with its changes since the previous one.
  ...masked("/api/document", ({ operation }, asked, reveal) => {
    const [dates, ofVersion] = [asked.optional("dates"), asked.optional("version")];
    const flags = present<DocumentFlags>({ dates, ofVersion, reveal, changes: true });
    const { kind, id } = subjectIn(asked);
    return runCommand(operation, (each) => getDocument(each, flags, kind, id, asked.text("endpoint")));
  }),
];

type Deed = (operation: Operation, asked: Asked) => Promise<unknown>;

const deeds: Readonly<Record<string, Deed>> = {
  trigger: (each, asked) => triggerEvent(each, {}, asked.text("type")),
  fail: (each, asked) => failSandbox(each, present({ for: asked.optional("for") }), asked.text("how")),
  heal: healSandbox,
  advance: (each, asked) => advanceSandbox(each, {}, asked.text("time")),
  token: async (each) => {
    const { token } = await runCommand(each, sandboxToken);
    return runCommand(each, (one) => setGivenToken(one, {}), { input: String(token) });
  },
};

export const sandboxRoutes: readonly Route[] = Object.entries(deeds).map(([name, deed]) =>
  change(`/api/sandbox/${name}`, async ({ operation }, asked) => {
    if (operation.deployment.local === undefined)
      throw CommandError.usage("This is for systems on this machine: the provider of this stage is real.");
    return runCommand(operation, (each) => deed(each, asked));
  }),
);

/** Every address below `/api/` except the stream of changes. */
export function consoleRoutes(context: ConsoleContext, jobs: Jobs): readonly Route[] {
  return [
    ...overviewRoutes(context),
    ...eventRoutes(createHistories(context.now), jobs),
    ...deadLetterRoutes(jobs),
    ...recordRoutes(jobs),
    ...documentRoutes,
    ...providerRoutes,
    ...subscriberRoutes(jobs),
    ...mappingRoutes,
    ...sandboxRoutes,
  ];
}

export const mappingRoutes: readonly Route[] = [
  read("/api/mapping", async ({ operation, settings }) => mappingOf(operation.deployment.stage, settings)),
  // Maps the pasted webhook on this machine, and stores nothing.
  look("/api/mapping/try", async ({ operation, settings }, asked) => {
    const body = asked.text("webhook");
    const mapping =
      editedMapping(asked.optional("mapping")) ?? mappingOf(operation.deployment.stage, settings);
    const sample = { name: "the webhook", bytes: Buffer.from(body), headers: {} };
    const kinds = webhookKinds.filter((kind) => kind === asked.text("kind"));
    return kinds.map((kind) => tryMapping(kind, mapping[kind], sample, jmespathSearch));
  }),
];

/** The default mapping, for a stage without a settings file here. */
function mappingOf(stage: string, file: string | undefined): StageMapping {
  try {
    return readStageMapping(stage, file);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return checkMapping({}, "the default mapping");
  }
}

function editedMapping(text: string | undefined): StageMapping | undefined {
  if (text === undefined) return undefined;
  let mapping: unknown;
  try {
    mapping = JSON.parse(text);
  } catch (error) {
    throw CommandError.usage(`The mapping is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  return checkMapping({ mapping }, "the edited mapping");
}

export const providerRoutes: readonly Route[] = [
  read("/api/provider", ({ operation, now }) => providerStatus(operation, now())),
  read("/api/provider/history", async ({ operation, now }, asked) =>
    historyLines(await providerHistory(operation, sinceIn(asked, now(), "24h")), now()),
  ),
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
      const subscriber = subscriberNamed(subscriberQueues(operation.deployment), asked.text("name"));
      return deliveriesTo(subscriber, operation, sinceIn(asked, now(), "1h"));
    }),
    change("/api/subscribers/test", ({ operation }, asked) =>
      runCommand(operation, (each) => testSubscriber(each, {}, asked.text("name"))),
    ),
    // Counts and sends nothing. In AWS the read of the table is billed, as the page shows beforehand.
    change("/api/replay/count", async ({ operation }, asked) =>
      jobs.start(`Count what a replay sends to ${asked.text("name")}`, async (onProgress) => {
        const said: string[] = [];
        const counted = await runCommand(
          operation,
          (each) => runReplay(each, { ...replayFlags(asked), dryRun: true }),
          {
            isAgreed: asked.is("scan"),
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
      const name = asked.text("name");
      asked.checkTyped(name);
      paused.delete(name);
      const resume = asked.optional("resume");
      const flags = resume === undefined ? replayFlags(asked) : { resume };
      return jobs.start(`Replay to ${name}`, (onProgress) => {
        const control = {
          isPaused: () => paused.has(name),
          onSent: (messages: number) => onProgress(`Sent ${messages} messages so far.`),
        };
        return runCommand(operation, (each) => runReplay(each, flags, control), {
          isAgreed: true,
          onProgress,
        });
      });
    }),
    // Pauses after the ten messages in progress; they are recorded, and the replay resumes after them.
    change("/api/replay/pause", async (_, asked) => {
      paused.add(asked.text("name"));
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
  return { subscriber: asked.text("name"), ...present({ since: asked.optional("since") }) };
}
