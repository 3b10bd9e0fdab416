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
import { CommandError } from "@income-events/cli/core/command-error.ts";
import { sinceFlag, subjectArgument } from "@income-events/cli/core/flags.ts";
import { checkMapping, readStageMapping, type StageMapping } from "@income-events/cli/core/stage-settings.ts";
import { documentHistory, documentPorts } from "@income-events/cli/documents/document-list.ts";
import { deliveriesTo } from "@income-events/cli/events/deliveries.ts";
import { tryMapping } from "@income-events/cli/mapping/trial.ts";
import { historyLines, providerHistory } from "@income-events/cli/provider/provider-history.ts";
import { providerStatus } from "@income-events/cli/provider/provider-status.ts";
import { subscriberNamed } from "@income-events/cli/status/work-queues.ts";
import { jmespathSearch } from "../../adapters/aws/jmespath-search.ts";
import { present } from "../../domain/core/parse.ts";
import { webhookKinds } from "../../domain/event/events.ts";
import { deadLetterRoutes } from "./api/dead-letters.ts";
import { eventRoutes } from "./api/events.ts";
import { overviewRoutes } from "./api/overview.ts";
import { recordRoutes } from "./api/records.ts";
import { createHistories } from "./history.ts";
import {
  type Asked,
  type CommandOutcome,
  type ConsoleContext,
  change,
  type Jobs,
  look,
  type Route,
  read,
  runCommand,
} from "./route.ts";

/** Documents and their stored versions. */
export const documentRoutes: readonly Route[] = [
  read("/api/documents", async ({ operation, now }, asked) => {
    const subject = subjectArgument(asked.param("kind"), asked.param("id"));
    return { documents: await documentHistory(subject, documentPorts(operation, now)) };
  }),
  read("/api/document", (context, asked) => document(context, (name) => asked.param(name), false)),
  look("/api/document/reveal", (context, asked) =>
    document(context, (name) => (name === "endpoint" ? asked.text(name) : asked.optionalText(name)), true),
  ),
];

/** A version of a document, with its changes since the previous one. */
function document(
  { operation }: ConsoleContext,
  asked: (name: string) => string | undefined,
  reveal: boolean,
): Promise<CommandOutcome> {
  const flags = present<DocumentFlags>({
    dates: asked("dates"),
    ofVersion: asked("version"),
    reveal,
    changes: true,
  });
  const { kind, id } = subjectArgument(asked("kind"), asked("id"));
  return runCommand(operation, (each) => getDocument(each, flags, kind, id, asked("endpoint") ?? ""));
}

type Deed = (context: ConsoleContext, asked: Asked) => Promise<CommandOutcome>;

const deeds: Readonly<Record<string, Deed>> = {
  trigger: ({ operation }, asked) => {
    const [type, endpoint] = [asked.text("type"), asked.optionalText("endpoint")];
    const args = endpoint === undefined ? [type] : [type, endpoint];
    return runCommand(operation, (each) => triggerEvent(each, {}, ...args));
  },
  fail: ({ operation }, asked) => {
    const seconds = asked.optionalText("for");
    const flags = seconds === undefined ? {} : { for: seconds };
    return runCommand(operation, (each) => failSandbox(each, flags, asked.text("how")));
  },
  heal: ({ operation }) => runCommand(operation, healSandbox),
  advance: ({ operation }, asked) =>
    runCommand(operation, (each) => advanceSandbox(each, {}, asked.text("time"))),
  token: async ({ operation }) => {
    const { token } = await runCommand(operation, sandboxToken);
    return runCommand(operation, (each) => setGivenToken(each, {}), { input: String(token) });
  },
};

export const sandboxRoutes: readonly Route[] = Object.entries(deeds).map(([name, deed]) =>
  change(`/api/sandbox/${name}`, (context, asked) => {
    if (context.operation.deployment.local === undefined)
      throw CommandError.usage("This is for systems on this machine: the provider of this stage is real.");
    return deed(context, asked);
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
  read("/api/mapping", async ({ operation, settings }, asked) => ({
    mapping: mappingOf(asked.param("stage") ?? operation.deployment.stage, settings),
  })),
  // Maps the pasted webhook on this machine, and stores nothing.
  look("/api/mapping/try", async ({ operation, settings }, asked) => {
    const body = asked.text("webhook");
    const mapping =
      editedMapping(asked.optionalText("mapping")) ?? mappingOf(operation.deployment.stage, settings);
    const sample = { name: "the webhook", bytes: Buffer.from(body), headers: {} };
    const chosen = asked.optionalText("kind");
    const kinds = webhookKinds.filter((kind) => chosen === undefined || kind === chosen);
    return { trials: kinds.map((kind) => tryMapping(kind, mapping[kind], sample, jmespathSearch)) };
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
  read("/api/provider/history", async ({ operation, now }, asked) => {
    const since = sinceFlag(asked.param("since") ?? "24h", now()) ?? "";
    return { history: historyLines(await providerHistory(operation, since), now()) };
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
      const subscriber = subscriberNamed(operation.deployment, asked.param("name") ?? "");
      const since = sinceFlag(asked.param("since") ?? "1h", now()) ?? "";
      return { deliveries: await deliveriesTo(subscriber, operation, since) };
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
      const name = asked.text("name");
      asked.checkTyped(name);
      paused.delete(name);
      const resume = asked.optionalText("resume");
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
  const since = asked.optionalText("since");
  return { subscriber: asked.text("name"), ...(since !== undefined && { since }) };
}
