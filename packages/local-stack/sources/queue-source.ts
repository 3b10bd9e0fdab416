import {
  DeleteMessageBatchCommand,
  type Message,
  type MessageAttributeValue,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { QueueSourcePlan } from "../assembly/plan.ts";
import type { Delay } from "../lambda/delay.ts";
import { type HostedFunction, type Outcome, synchronousPayloadBytes } from "../lambda/hosted-function.ts";
import { isRecursionError } from "../lambda/lineage.ts";
import { batchResult, failedEvents, type SourceMetricName } from "./batch-response.ts";
import type { EventFilter } from "./event-filter.ts";

export type QueueSource = ReturnType<typeof startQueueSource>;

export type QueueSourceOptions = {
  readonly plan: QueueSourcePlan;
  readonly queueUrl: string;
  readonly region: string;
  readonly target: HostedFunction;
  /** Client with the function's own credentials: Lambda polls in its role's name. */
  readonly sqs: SQSClient;
  readonly delay: Delay;
  readonly onMeasured?: (name: SourceMetricName, value: number) => void;
  /** Called with errors that keep the source from polling. */
  readonly onProblem: (message: string) => void;
};

/** SQS's limits per call. */
const receivedAtOnce = 10;
const longestPollSeconds = 20;
const longestBackOff = 5_000;
/** Lambda starts with this many concurrent batches. */
const firstPollers = 5;
const shortestThrottleWait = 50;
const longestThrottleWait = 5_000;

/**
 * Polls a queue for a function with long polling, and as many concurrent batches as the mapping allows.
 * Source: Lambda developer guide, "Using Lambda with Amazon SQS".
 */
export function startQueueSource(options: QueueSourceOptions) {
  const { plan, queueUrl, region, target, sqs } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const batches = new Set<Promise<void>>();
  const concurrency = batchesAtOnce(plan, target);

  const receive = async (wanted: number, waitSeconds: number): Promise<QueueRecord[]> => {
    const command = new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: Math.min(wanted, receivedAtOnce),
      WaitTimeSeconds: waitSeconds,
      MessageAttributeNames: ["All"],
      MessageSystemAttributeNames: ["All"],
    });
    const { Messages = [] }: { Messages?: Message[] | undefined } = await sqs.send(command, {
      abortSignal: signal,
    });
    const records = Messages.map((message) => queueRecord(message, plan, region));
    const refused = records.filter((record) => !isTaken(record, plan.filters));
    await remove(refused);
    return records.filter((record) => !refused.includes(record));
  };

  /** Collects up to the batch size, or until the window ends, counted from the first message. */
  const gather = async (): Promise<QueueRecord[]> => {
    const gathered = await receive(plan.batchSize, longestPollSeconds);
    const closes = Date.now() + plan.windowSeconds * 1000;
    while (gathered.length > 0 && gathered.length < plan.batchSize && !signal.aborted) {
      const left = Math.ceil((closes - Date.now()) / 1000);
      if (left <= 0) break;
      gathered.push(...(await receive(plan.batchSize - gathered.length, Math.min(left, longestPollSeconds))));
    }
    return gathered;
  };

  const remove = async (records: readonly QueueRecord[]): Promise<void> => {
    for (let start = 0; start < records.length; start += receivedAtOnce) {
      const Entries = records
        .slice(start, start + receivedAtOnce)
        .map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
      await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    }
  };

  /** Retries while the function is throttled, until the messages are about to become visible again. */
  const invoke = async (records: readonly QueueRecord[]): Promise<Outcome> => {
    const event = JSON.stringify({ Records: records });
    const traces = records.flatMap(({ attributes }) => attributes.AWSTraceHeader ?? []);
    const begun = Date.now();
    let waited = 0;
    for (let wait = shortestThrottleWait; ; wait = Math.min(longestThrottleWait, wait * 2)) {
      options.onMeasured?.("InvokedEventCount", records.length);
      const outcome = await target.invoke(event, traces);
      waited = Math.max(waited + wait, Date.now() - begun + wait);
      const isOver = signal.aborted || waited >= plan.queue.visibilitySeconds * 1000;
      if (outcome.kind !== "throttled" || isOver) return outcome;
      await options.delay(wait, signal);
    }
  };

  const runBatch = async (records: readonly QueueRecord[]): Promise<void> => {
    const ids = records.map(({ messageId }) => messageId);
    const outcome = await invoke(records);
    if (outcome.kind === "failed" && isRecursionError(outcome.error)) report(outcome.error.errorMessage);
    const result = batchResult(outcome, plan.reportsItemFailures, ids);
    const failedCount = failedEvents(outcome, result, records.length);
    if (failedCount > 0 && !signal.aborted) options.onMeasured?.("FailedInvokeEventCount", failedCount);
    if (result.kind === "failed") return;
    const failed = result.kind === "partial" ? result.failed : new Set<string>();
    await remove(records.filter(({ messageId }) => !failed.has(messageId)));
  };

  const start = (records: readonly QueueRecord[]): void => {
    const batch = runBatch(records)
      .catch((error: unknown) => report(error))
      .finally(() => batches.delete(batch));
    batches.add(batch);
  };

  const report = (error: unknown): void => {
    if (!signal.aborted) options.onProblem(`${plan.logicalId} (${plan.queue.name}): ${String(error)}`);
  };

  const poll = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      while (batches.size >= concurrency) await Promise.race(batches);
      try {
        const gathered = await gather();
        failures = 0;
        for (const records of splitByPayload(gathered)) start(records);
      } catch (error) {
        report(error);
        failures += 1;
        await options.delay(Math.min(longestBackOff, 100 * 2 ** failures), signal);
      }
    }
  };

  const polling = poll();
  return {
    working: () => batches.size,
    close: async (): Promise<void> => {
      closing.abort();
      await polling;
      await Promise.all(batches);
    },
  };
}

/**
 * A trap of Lambda: it receives before it knows whether the function may run, so a throttled function's
 * messages are received in vain. Invocations that would only queue for this machine's processes are not
 * polled for.
 */
function batchesAtOnce(
  { maximumConcurrency }: QueueSourcePlan,
  { plan, concurrency }: HostedFunction,
): number {
  if (plan.reservedConcurrency === undefined) return Math.min(maximumConcurrency ?? concurrency, concurrency);
  return maximumConcurrency ?? Math.max(firstPollers, concurrency);
}

/** Splits batches before they exceed a function's payload limit. */
function splitByPayload(records: readonly QueueRecord[]): QueueRecord[][] {
  const batches: QueueRecord[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const size = Buffer.byteLength(JSON.stringify(record)) + 1;
    if (bytes + size > synchronousPayloadBytes - 16) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)?.push(record);
    bytes += size;
  }
  return batches;
}

/**
 * Creates a record of the event from a received message.
 * Source: Lambda developer guide, "Example standard queue message event".
 */
export function queueRecord(
  message: Message,
  plan: { readonly queue: { readonly arn: string } },
  region: string,
) {
  const { MD5OfMessageAttributes: md5 } = message;
  return {
    messageId: message.MessageId ?? "",
    receiptHandle: message.ReceiptHandle ?? "",
    body: message.Body ?? "",
    attributes: message.Attributes ?? {},
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, attribute(value)]),
    ),
    ...(md5 !== undefined && { md5OfMessageAttributes: md5 }),
    md5OfBody: message.MD5OfBody ?? "",
    eventSource: "aws:sqs",
    eventSourceARN: plan.queue.arn,
    awsRegion: region,
  };
}

type QueueRecord = ReturnType<typeof queueRecord>;

function attribute(value: MessageAttributeValue) {
  const { StringValue: text, BinaryValue: bytes } = value;
  return {
    ...(text !== undefined && { stringValue: text }),
    ...(bytes !== undefined && { binaryValue: Buffer.from(bytes).toString("base64") }),
    stringListValues: [],
    binaryListValues: [],
    dataType: value.DataType ?? "String",
  };
}

/** Whether a filter matches the message; patterns for the body see it as JSON if it is JSON. */
function isTaken(record: QueueRecord, filters: readonly EventFilter[]): boolean {
  if (filters.length === 0) return true;
  const filtered = { ...record, body: parsedBody(record.body) };
  return filters.some((matches) => matches(filtered));
}

function parsedBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
