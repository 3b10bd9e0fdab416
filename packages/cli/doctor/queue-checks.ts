import {
  GetFunctionConfigurationCommand,
  type GetFunctionConfigurationCommandOutput,
} from "@aws-sdk/client-lambda";
import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import { type EventSource, eventSources } from "../../../adapters/sqs/event-sources.ts";
import { isWebhookKind } from "../../../domain/event/events.ts";
import { commandLine, counted, oneLine, spanText } from "../core/text.ts";
import { ownQueuesOf, type QueueStatus, workQueueArn } from "../status/work-queues.ts";
import { type Check, deployAgain, type Examined, type Finding, found } from "./finding.ts";

export const queueCheck: Check = {
  name: "dead letters",
  examine: async ({ queues }) => checkQueues(await queues()),
};

/** Groups of queues, with the alarms for their dead letters and for their oldest message. */
const watched = [
  ["events", "events-dead-letters", ["events-late"]],
  ["fetch", "fetching-dead-letters", ["fetching-late", "fetching-behind"]],
  ["deadlines", "deadline-dead-letters", ["deadlines-behind"]],
  ["erase", "erasure-dead-letters", ["erasure-late"]],
  ["subscriber", "subscriber-dead-letters", ["subscriber-behind"]],
] as const;

function groupOf({ name }: QueueStatus): string | undefined {
  return isWebhookKind(name) ? "events" : name.split("/")[0];
}

export function checkQueues(statuses: readonly QueueStatus[]): Examined {
  const results = watched.map(([group, deadLetters, late]) => {
    const queues = statuses.filter((status) => groupOf(status) === group);
    const findings = queues.flatMap((status) => checkDeadLetterCount(status, deadLetters));
    const isEmpty = queues.every(({ waiting, inFlight }) => waiting + inFlight === 0);
    const well = [...(findings.length === 0 ? [deadLetters] : []), ...(isEmpty ? late : [])];
    return { findings, well: well.map((code) => ({ code })) };
  });
  return {
    findings: results.flatMap(({ findings }) => findings),
    well: results.flatMap(({ well }) => well),
  };
}

export function checkDeadLetterCount(
  { name, deadLetters, oldestDeadLetterSeconds }: QueueStatus,
  code: string,
): readonly Finding[] {
  if (deadLetters === 0) return [];
  const age =
    oldestDeadLetterSeconds === undefined ? "" : `, the oldest for ${spanText(oldestDeadLetterSeconds)}`;
  return [
    {
      code,
      severity: "error",
      what: `${name} has ${counted(deadLetters, "dead letter")}${age}.`,
      why: "These messages failed. They expire in 14 days.",
      fix: commandLine`npx income-events dlq show ${name}`,
    },
  ];
}

export const readerCheck: Check = {
  name: "subscribers' readers",
  examine: async ({ deployment, queues, now }) => {
    const statuses = await queues();
    return found(
      statuses.flatMap((status) => {
        const [, name] = /^subscriber\/(.*)/.exec(status.name) ?? [];
        const last = status.lastPolledAt === undefined ? 0 : Date.parse(status.lastPolledAt);
        const isRead = now.getTime() - last < 1_000 * longestSilenceInSeconds;
        return name === undefined
          ? []
          : checkReader({ ...status, name }, isRead, deployment.local !== undefined);
      }),
    );
  },
};

/** A reader polls at least this often. */
const longestSilenceInSeconds = 3_600;

/** A reader may still be starting. */
const shortestWaitInSeconds = 60;

/**
 * @param isRead whether the queue was polled within the last hour
 * @param isLocal on this machine it is no problem if a queue has no reader yet
 */
export function checkReader(
  { name, waiting, oldestSeconds = 0, retentionSeconds, neverRead }: QueueStatus,
  isRead: boolean,
  isLocal = false,
): readonly Finding[] {
  if (neverRead === true && isLocal) return [];
  const behind = `${waiting === 1 ? "1 message waits" : `${waiting} messages wait`}, the oldest for ${spanText(oldestSeconds)}`;
  const why =
    `SQS deletes messages after ${spanText(retentionSeconds)}: start the reader of ${name}. ` +
    "The command shows its progress.";
  const fix = "npx income-events status --section subscribers";
  const of = { severity: "error", why, fix } as const;
  if (neverRead === true && oldestSeconds >= shortestWaitInSeconds) {
    const severity = oldestSeconds >= longestSilenceInSeconds ? "error" : "warning";
    return [
      { ...of, code: "subscriber-unread", severity, what: `${name} has never read its queue: ${behind}.` },
    ];
  }
  if (waiting > 0 && !isRead && oldestSeconds >= longestSilenceInSeconds)
    return [{ code: "subscriber-unread", what: `Nobody reads the queue of ${name}: ${behind}.`, ...of }];
  if (waiting > 0 && oldestSeconds > retentionSeconds / 2)
    return [{ code: "subscriber-behind", what: `The reader of ${name} is far behind: ${behind}.`, ...of }];
  return [];
}

export const failuresCheck: Check = {
  name: "changes that the relay did not deliver",
  examine: async ({ deployment, clients }) => {
    const Bucket = deployment.output("FailuresBucketName");
    const { KeyCount = 0 } = await clients.s3.send(new ListObjectsV2Command({ Bucket, MaxKeys: 1 }));
    return KeyCount === 0
      ? { findings: [], well: [{ code: givenUp.code }] }
      : { findings: [givenUp], well: [] };
  },
};

const givenUp: Finding = {
  code: "undelivered-changes",
  severity: "error",
  what: "The relay did not deliver changes of the table; they are kept in the failures bucket.",
  why: "Their states, fetches and messages to subscribers are missing.",
  fix: "npx income-events repair --failures",
};

/** Outputs that name functions. Settings can leave some of them out. */
const functionOutputs = [
  "RelayFunctionName",
  "RefreshFunctionName",
  "RegisterFunctionName",
  "ReconcileFunctionName",
  "ArchiveFunctionName",
] as const;

export const functionCheck: Check = {
  name: "functions",
  examine: async ({ deployment, clients }) => {
    const names = functionOutputs.flatMap((output) => deployment.optionalOutput(output) ?? []);
    const checks = names.map(async (FunctionName) =>
      checkFunction(
        FunctionName,
        await clients.lambda.send(new GetFunctionConfigurationCommand({ FunctionName })),
        deployment.stage,
      ),
    );
    return found((await Promise.all(checks)).flat());
  },
};

type FunctionState = Pick<
  GetFunctionConfigurationCommandOutput,
  "State" | "StateReason" | "LastUpdateStatus" | "LastUpdateStatusReason"
>;

/** A `Pending` or `Inactive` function becomes active by itself. */
export function checkFunction(
  name: string,
  { State, StateReason, LastUpdateStatus, LastUpdateStatusReason }: FunctionState,
  stage: string,
): readonly Finding[] {
  const why = "It can't run as it is deployed.";
  const broken = (reason = "no reason is given"): readonly Finding[] => [
    {
      code: "function-failed",
      severity: "error",
      what: `The function ${name} has failed: ${oneLine(reason)}.`,
      why,
      fix: deployAgain(stage),
    },
  ];
  if (State === "Failed") return broken(StateReason);
  return LastUpdateStatus === "Failed" ? broken(LastUpdateStatusReason) : [];
}

export const eventSourceCheck: Check = {
  name: "event sources",
  examine: async ({ deployment, clients: { lambda } }) => {
    const { stage, client } = deployment;
    const queues = ownQueuesOf(deployment).map(async (name) => {
      const sources = await eventSources(lambda, { EventSourceArn: workQueueArn(deployment, name) });
      return checkEventSources(`the queue ${name}`, sources, stage, client.region);
    });
    const relay = eventSources(lambda, { FunctionName: deployment.output("RelayFunctionName") }).then(
      (sources) => checkEventSources("the table's stream", sources, stage, client.region),
    );
    return found((await Promise.all([...queues, relay])).flat());
  },
};

export function checkEventSources(
  what: string,
  sources: readonly EventSource[],
  stage: string,
  region: string,
): readonly Finding[] {
  const off = {
    code: "event-source-off",
    severity: "error",
    why: "Its messages wait and are not processed.",
  } as const;
  if (sources.length === 0)
    return [{ ...off, what: `No function is called for ${what}.`, fix: deployAgain(stage) }];
  return sources
    .filter(({ state }) => state === "Disabled" || state === "Disabling")
    .map(({ id }) => ({
      ...off,
      what: `The event source of ${what} is disabled.`,
      fix: commandLine`aws lambda update-event-source-mapping --region ${region} --uuid ${id} --enabled`,
    }));
}
