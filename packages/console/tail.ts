import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { explain } from "@income-events/cli/core/command-error.ts";
import { waitUnlessAborted } from "@income-events/cli/core/interruption.ts";
import { type Happening, happeningOf } from "@income-events/cli/events/event-tail.ts";
import { followStream, streamOf } from "../../adapters/streams/stream-follower.ts";
import { securityHeaders } from "./access.ts";
import type { ConsoleContext } from "./route.ts";

/** Sends changes to every watching page, from one reader of the table's stream. */
export type Tail = Disposable & {
  /** @param after the id of the last message that the page has, for a reconnect */
  readonly serve: (response: ServerResponse, after?: string) => void;
};

const secondsBetweenBeats = 15;
/** Locally reads are free and people watch. */
const localPace = 5;
/** A page that accepts nothing for this long is disconnected. It reconnects and gets what it missed. */
const maxUnsentBytes = 1024 * 1024;
/** How long after the last page left a returning page misses nothing; iterators in AWS last as long. */
const pauseInSeconds = 15 * 60;
const secondsBetweenTries = 5;

export function createTail({ operation, now }: Pick<ConsoleContext, "operation" | "now">): Tail {
  const watchers = new Set<ServerResponse>();
  const backlog = createBacklog(randomBytes(6).toString("hex"));
  let reader: AbortController | undefined;
  let state: TailState = { state: "connecting" };
  let resume: () => void = () => undefined;
  let pause: NodeJS.Timeout | undefined;
  const pace = operation.deployment.local === undefined ? 1 : localPace;

  const tell = (line: TailLine) => {
    for (const watcher of watchers) {
      if (watcher.writableLength > maxUnsentBytes) watcher.destroy();
      else watcher.write(textOf(line));
    }
  };
  const turn = (to: TailState) => {
    state = to;
    tell({ type: "state", state: to });
  };
  /** Pauses the reader while no page watches, because reads are billed. */
  const untilWatched = async (signal: AbortSignal) => {
    if (watchers.size > 0 || signal.aborted) return;
    await new Promise<unknown>((resolve) => {
      resume = () => resolve(undefined);
      signal.addEventListener("abort", resolve, { once: true });
    });
  };
  async function follow(signal: AbortSignal): Promise<void> {
    const { clients, deployment } = operation;
    const stream = await streamOf(clients.dynamodb, deployment.output("TableName"));
    const records = followStream(clients.dynamodbStreams, stream, {
      signal,
      wait: async (seconds) => {
        await waitUnlessAborted(seconds / pace, signal);
        await untilWatched(signal);
      },
      endures: true,
      onReady: () => turn({ state: "following" }),
      onRecovered: () => turn({ state: "following" }),
      onError: (_, error) => turn({ state: "waiting", reason: explain(error).message }),
    });
    for await (const some of records) {
      for (const record of some) {
        const happening = happeningOf(record, now());
        if (happening !== undefined) tell({ type: "happening", ...backlog.add(happening) });
      }
    }
  }
  const start = async () => {
    reader = new AbortController();
    const { signal } = reader;
    while (!signal.aborted) {
      await follow(signal).catch((error: unknown) => {
        if (!signal.aborted) turn({ state: "failed", reason: explain(error).message });
      });
      await waitUnlessAborted(secondsBetweenTries, signal);
      await untilWatched(signal);
    }
  };
  const stop = () => {
    reader?.abort();
    reader = undefined;
    state = { state: "connecting" };
    backlog.interrupt();
  };
  return {
    serve: (response, after) => {
      response.writeHead(200, { ...securityHeaders, "content-type": "application/x-ndjson" });
      const send = (line: TailLine) => response.write(textOf(line));
      const { isMissing, sent, at } = backlog.since(after);
      if (isMissing) send({ type: "missed" });
      for (const each of sent) send({ type: "happening", ...each });
      send({ type: "state", id: at, state });
      watchers.add(response);
      clearTimeout(pause);
      if (reader === undefined) void start();
      else resume();
      const beat = setInterval(() => response.write("\n"), secondsBetweenBeats * 1000);
      response.once("close", () => {
        clearInterval(beat);
        watchers.delete(response);
        if (watchers.size === 0) pause = setTimeout(stop, pauseInSeconds * 1000).unref();
      });
    },
    [Symbol.dispose]: () => {
      clearTimeout(pause);
      stop();
      for (const watcher of watchers) watcher.destroy();
    },
  };
}

function textOf(line: TailLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** A message, with an id that is unique among consoles. */
export type Told = { readonly id: string; readonly happening: Happening };

export type TailState = {
  readonly state: "connecting" | "following" | "waiting" | "failed";
  readonly reason?: string;
};

/** A message for a watching page, one JSON object on a line. A new connection resumes after its id. */
export type TailLine =
  | ({ readonly type: "happening" } & Told)
  | { readonly type: "state"; readonly id?: string; readonly state: TailState }
  /** Messages were missed that are no longer stored; the history has them. */
  | { readonly type: "missed" };

const kept = 2_000;

/**
 * The messages that a returning page missed.
 * @param console distinguishes it from an earlier console at the same address
 */
export function createBacklog(console: string) {
  const told: { readonly number: number; readonly happening: Happening }[] = [];
  let last = 0;
  let begin = 0;
  const named = ({ number, happening }: (typeof told)[number]): Told => ({
    id: `${console}-${number}`,
    happening,
  });
  return {
    add: (happening: Happening): Told => {
      last += 1;
      const added = { number: last, happening };
      told.push(added);
      if (told.length > kept) told.shift();
      return named(added);
    },
    /** Marks a possible gap. */
    interrupt: () => {
      // Every page, even an up-to-date one, has a gap before the next message.
      last += 1;
      begin = last;
      told.length = 0;
    },
    /** @param seen the last message that the page has; undefined for a new page, which gets only later ones */
    since: (seen: string | undefined) => {
      const at = `${console}-${last}`;
      if (seen === undefined) return { sent: [], isMissing: false, at };
      const [whose = "", number = ""] = seen.split("-");
      const from = Number(number);
      if (whose !== console || !/^\d+$/.test(number)) return { sent: told.map(named), isMissing: true, at };
      const first = told[0]?.number ?? last + 1;
      const isMissing = from < Math.max(begin, first - 1);
      return { sent: told.filter((each) => each.number > from).map(named), isMissing, at };
    },
  };
}
