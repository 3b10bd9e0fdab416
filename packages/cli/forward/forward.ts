import type { Message, SQSClient } from "@aws-sdk/client-sqs";
import { isTransient } from "../../../adapters/aws/client.ts";
import { deleteAll, receiveBatch, releaseAll } from "../../../adapters/sqs/queue-messages.ts";
import { messageVisibility } from "../../../adapters/sqs/sqs-sender.ts";
import { isFields, jsonIn, optionalText } from "../../../domain/core/parse.ts";
import { CommandError } from "../core/command-error.ts";
import { counted, oneLine } from "../core/text.ts";

export type ForwardPorts = {
  readonly sqs: SQSClient;
  readonly queueUrl: string;
  readonly post: Post;
  /** Stops it. */
  readonly signal: AbortSignal;
  readonly wait: (seconds: number) => Promise<void>;
  readonly report: (text: string) => void;
};

export type Forwarded = { readonly forwarded: number; readonly refused: number };

/** Visibility time-out, longer than the time-out of a post and the longest wait between two. */
const hiddenInSeconds = 60;
/** Seconds of a long poll. Stopping waits for it, so that no received message stays invisible. */
const pollInSeconds = 3;
const longestWaitInSeconds = 10;
/** Maximum delay of a refused message. Delays grow until the queue makes it a dead letter. */
const longestReturnInSeconds = 300;

/**
 * Posts the messages of a queue until it is stopped, and deletes those that are accepted. Refused messages
 * are received again, as often as the queue allows. While no server answers, messages stay invisible, so that
 * they don't become dead letters. When it stops, invisible messages are released.
 */
export async function forward(ports: ForwardPorts): Promise<Forwarded> {
  const { sqs, queueUrl, signal, wait, report } = ports;
  const counts = { forwarded: 0, refused: 0 };
  while (!signal.aborted) {
    try {
      const batch = await receiveBatch(sqs, queueUrl, {
        waitSeconds: pollInSeconds,
        visibilityTimeout: hiddenInSeconds,
      });
      await forwardBatch(batch, ports, counts);
    } catch (error) {
      if (!isTransient(error)) throw error;
      report(`${error.name}: retrying.`);
      await wait(longestWaitInSeconds);
    }
  }
  return counts;
}

/** Posts until each message is accepted or refused; only unanswered ones are retried here. */
async function forwardBatch(
  batch: readonly Message[],
  ports: ForwardPorts,
  counts: { forwarded: number; refused: number },
): Promise<void> {
  const { sqs, queueUrl, post, signal, wait, report } = ports;
  let held = batch;
  try {
    for (let tries = 0; held.length > 0 && !signal.aborted; tries += 1) {
      const posting = held.map(async (message) => ({ message, posted: await post(message.Body ?? "") }));
      const outcomes = await Promise.all(posting);
      const of = (outcome: Posted["outcome"]) =>
        outcomes.filter(({ posted }) => posted.outcome === outcome).map(({ message }) => message);
      const accepted = of("accepted");
      held = held.filter((message) => !accepted.includes(message));
      await deleteAll(sqs, queueUrl, accepted);
      counts.forwarded += accepted.length;
      // An interrupted request was not refused.
      if (signal.aborted) break;
      const reasons = outcomes.flatMap(({ message, posted }) => {
        if (posted.outcome === "unreachable") return posted.reason;
        report(lineOf(message, posted));
        return [];
      });
      const returning = of("refused");
      held = of("unreachable");
      await hide(ports, returning, returnIn);
      counts.refused += returning.length;
      if (held.length === 0) break;
      if (tries === 0)
        report(`No answer (${reasons[0]}). Holding ${counted(held.length, "message")} until there is one.`);
      await hide(ports, held, () => hiddenInSeconds);
      await wait(Math.min(longestWaitInSeconds, 2 ** tries));
    }
  } finally {
    await releaseAll(sqs, queueUrl, held);
  }
}

function lineOf(message: Message, posted: Exclude<Posted, { outcome: "unreachable" }>): string {
  const what = describeMessage(message.Body ?? "");
  if (posted.outcome === "accepted") return `${posted.status}  ${what}`;
  const received = counted(receivesOf(message), "time");
  return `${posted.reason}  ${what}, received ${received}: again in ${returnIn(message)} s`;
}

function receivesOf({ Attributes }: Message): number {
  return Number(Attributes?.ApproximateReceiveCount ?? 1);
}

function returnIn(message: Message): number {
  return Math.min(longestReturnInSeconds, 2 ** receivesOf(message));
}

async function hide(
  { sqs, queueUrl }: ForwardPorts,
  messages: readonly Message[],
  secondsOf: (message: Message) => number,
): Promise<void> {
  await messageVisibility(sqs)(
    queueUrl,
    messages.map((message) => ({
      receiptHandle: message.ReceiptHandle ?? "",
      seconds: secondsOf(message),
    })),
  );
}

/** A message in one line: type, subject and id, if present. */
function describeMessage(body: string): string {
  const fields = jsonIn(body);
  if (!isFields(fields)) return "no CloudEvent";
  const parts = ["type", "subject", "id"].map((name) => optionalText(fields, name) ?? "-");
  return oneLine(parts.join("  "));
}

/** The outcome of posting a message. `unreachable`: no server answered. */
export type Posted =
  | { readonly outcome: "accepted"; readonly status: number }
  | { readonly outcome: "refused"; readonly reason: string }
  | { readonly outcome: "unreachable"; readonly reason: string };

export type Post = (body: string) => Promise<Posted>;

/** @throws CommandError naming the flag */
export function parseTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "")
    return url;
  throw CommandError.usage(
    `--to ${JSON.stringify(text)} is not an address to post to: write one such as http://localhost:3000/events, without a password.`,
  );
}

/** Posts CloudEvents in JSON as the queue holds them. @param signal cancels requests in progress */
export function postTo(url: URL, timeoutInSeconds: number, signal: AbortSignal): Post {
  return async (body) => {
    const timeout = AbortSignal.timeout(timeoutInSeconds * 1000);
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/cloudevents+json" },
        body,
        redirect: "manual",
        signal: AbortSignal.any([signal, timeout]),
      });
      await response.body?.cancel();
      const { ok, status } = response;
      return ok ? { outcome: "accepted", status } : { outcome: "refused", reason: `answered ${status}` };
    } catch (error) {
      if (timeout.aborted) return { outcome: "refused", reason: `no answer in ${timeoutInSeconds} s` };
      return { outcome: "unreachable", reason: reasonOf(error) };
    }
  };
}

/** Descriptions of connection errors; other codes are shown unchanged. */
const meanings: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there, ECONNREFUSED",
  ECONNRESET: "it hung up, ECONNRESET",
  EHOSTUNREACH: "the machine can't be reached, EHOSTUNREACH",
  ENOTFOUND: "host not found, ENOTFOUND",
  "bad port": "this port is kept for another protocol, and no HTTP client uses it: choose another",
};

/** The error of `fetch` itself has no details; its cause does. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
  return meanings[code] ?? code;
}
