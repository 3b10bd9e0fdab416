import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { explain } from "@income-events/cli/core/command-error.ts";
import { waitUnlessAborted } from "@income-events/cli/core/interruption.ts";
import { type Happening, happeningOf } from "@income-events/cli/events/event-tail.ts";
import { followStream, streamOf } from "../../adapters/streams/stream-follower.ts";
import { type ConsoleContext, type Route, read } from "./route.ts";

/** Answers each page with the changes since its last answer, from one reader of the table's stream. */
export type Tail = Disposable & { readonly route: Route };

export type TailState = {
  readonly state: "connecting" | "following" | "waiting" | "failed";
  readonly reason?: string;
};

export type TailAnswer = ReturnType<ReturnType<typeof createBacklog>["since"]> & {
  readonly state: TailState;
};

/** Locally reads are free and people watch. */
const localPace = 5;
/** Maximum time to wait for a change before an answer has none. */
const millisecondsToHold = 1_000;
/** A visible page asks again at once. After this long without a question the reader pauses. */
const millisecondsToPause = 5_000;
/** How long after its last question a page misses nothing; iterators in AWS last as long. */
const millisecondsToStop = 15 * 60_000;
const secondsBetweenTries = 5;

export function createTail({ operation, now }: Pick<ConsoleContext, "operation" | "now">): Tail {
  const backlog = createBacklog(randomBytes(6).toString("hex"));
  const pace = operation.deployment.local === undefined ? 1 : localPace;
  let reader: AbortController | undefined;
  let state: TailState = { state: "connecting" };
  let askedAt = 0;
  const signals = new EventEmitter<{ asked: []; changed: [] }>().setMaxListeners(0);

  const turn = (to: TailState) => {
    state = to;
    signals.emit("changed");
  };
  const isUnaskedFor = (milliseconds: number) => now().getTime() - askedAt > milliseconds;
  /** Also pauses the reader while no page asks, because reads are billed. */
  const wait = async (seconds: number, signal: AbortSignal) => {
    await waitUnlessAborted(seconds, signal);
    if (isUnaskedFor(millisecondsToPause) && !signal.aborted) await once(signals, "asked");
  };
  const follow = async (signal: AbortSignal) => {
    const { clients, deployment } = operation;
    const stream = await streamOf(clients.dynamodb, deployment.output("TableName"));
    const records = followStream(clients.dynamodbStreams, stream, {
      signal,
      wait: (seconds) => wait(seconds / pace, signal),
      endures: true,
      onReady: () => turn({ state: "following" }),
      onRecovered: () => turn({ state: "following" }),
      onError: (_, error) => turn({ state: "waiting", reason: explain(error).message }),
    });
    for await (const some of records) {
      const happenings = some.flatMap((record) => happeningOf(record, now()) ?? []);
      for (const happening of happenings) backlog.add(happening);
      if (happenings.length > 0) signals.emit("changed");
    }
  };
  const start = async ({ signal }: AbortController) => {
    while (!signal.aborted) {
      await follow(signal).catch((error: unknown) => {
        if (!signal.aborted) turn({ state: "failed", reason: explain(error).message });
      });
      await wait(secondsBetweenTries, signal);
    }
  };
  const stop = () => {
    reader?.abort();
    reader = undefined;
    signals.emit("asked");
  };
  const answer = async (after: string | undefined): Promise<TailAnswer> => {
    if (reader !== undefined && isUnaskedFor(millisecondsToStop)) {
      stop();
      state = { state: "connecting" };
      backlog.interrupt();
    }
    askedAt = now().getTime();
    signals.emit("asked");
    if (reader === undefined) {
      reader = new AbortController();
      void start(reader);
    }
    if (backlog.since(after).at === after)
      await Promise.race([once(signals, "changed"), sleep(millisecondsToHold, undefined, { ref: false })]);
    return { ...backlog.since(after), state };
  };
  return {
    route: read("/api/tail", (_, asked) => answer(asked.optional("after"))),
    [Symbol.dispose]: stop,
  };
}

const maxKept = 2_000;

/**
 * The changes that a page has not seen. Each answer ends at a position, after which the next one begins.
 * @param console distinguishes it from an earlier console at the same address
 */
export function createBacklog(console: string) {
  const kept: Happening[] = [];
  let last = 0;
  return {
    add: (happening: Happening): void => {
      last += 1;
      kept.push(happening);
      if (kept.length > maxKept) kept.shift();
    },
    /** Marks a possible gap. */
    interrupt: () => {
      // Every page, even an up-to-date one, has a gap before the next change.
      last += 1;
      kept.length = 0;
    },
    /** @param seen the position of the page's last answer; undefined for a new page, which gets only later changes */
    since: (seen: string | undefined) => {
      const at = `${console}-${last}`;
      const [whose, number = ""] = (seen ?? at).split("-");
      const isOwn = whose === console && /^\d+$/.test(number);
      const unseen = isOwn ? Math.max(0, last - Number(number)) : Number.POSITIVE_INFINITY;
      const first = Math.max(0, kept.length - unseen);
      return { happenings: kept.slice(first), isMissing: unseen > kept.length, at };
    },
  };
}
