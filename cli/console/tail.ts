import type { IncomingMessage, ServerResponse } from "node:http";
import { followStream } from "../../adapters/streams/stream-follower.ts";
import { streamOf } from "../../adapters/streams/table-stream.ts";
import { explain } from "../core/explain.ts";
import { waitUnlessAborted } from "../core/interruption.ts";
import { type Happening, happeningOf } from "../events/event-tail.ts";
import { securityHeaders } from "./access.ts";
import type { ConsoleContext } from "./route.ts";

/** What happens, sent to every page that watches: one reader of the table's stream for all of them. */
export type Tail = Disposable & {
  readonly serve: (request: IncomingMessage, response: ServerResponse) => void;
};

/** What a page that lost its connection gets again. */
const keptHappenings = 200;
const secondsBetweenBeats = 15;
/** On this machine nothing is billed, and people watch. */
const localPace = 5;

type Sent = { readonly id: number; readonly happening: Happening };

export function createTail({ operation, now }: Pick<ConsoleContext, "operation" | "now">): Tail {
  const watchers = new Set<ServerResponse>();
  const kept: Sent[] = [];
  let following: AbortController | undefined;
  let isReady = false;
  let last = 0;
  const pace = operation.deployment.local === undefined ? 1 : localPace;

  const tell = (text: string) => {
    for (const watcher of watchers) watcher.write(text);
  };
  const publish = (happening: Happening) => {
    last += 1;
    kept.push({ id: last, happening });
    if (kept.length > keptHappenings) kept.shift();
    tell(eventText({ id: last, happening }));
  };
  async function follow(signal: AbortSignal): Promise<void> {
    const { clients, deployment } = operation;
    const stream = await streamOf(clients.dynamodb, deployment.output("TableName"));
    const records = followStream(clients.dynamodbStreams, stream, {
      signal,
      wait: (seconds) => waitUnlessAborted(seconds / pace, signal),
      onReady: () => {
        isReady = true;
        tell(stateText("following"));
      },
      onError: (reason) => tell(stateText("waiting", reason)),
    });
    for await (const some of records) {
      for (const record of some) {
        const happening = happeningOf(record, now());
        if (happening !== undefined) publish(happening);
      }
    }
  }
  const start = () => {
    const controller = new AbortController();
    following = controller;
    follow(controller.signal)
      .catch((error: unknown) => tell(stateText("failed", explain(error).message)))
      .finally(() => {
        if (following === controller) following = undefined;
        isReady = false;
      });
  };
  const stop = () => {
    following?.abort();
    following = undefined;
  };
  return {
    serve: (request, response) => {
      response.writeHead(200, { ...securityHeaders, "content-type": "text/event-stream" });
      response.write(`retry: 1000\n\n`);
      const seen = Number(request.headers["last-event-id"] ?? Number.POSITIVE_INFINITY);
      for (const sent of kept.filter(({ id }) => id > seen)) response.write(eventText(sent));
      watchers.add(response);
      if (following === undefined) start();
      else if (isReady) response.write(stateText("following"));
      const beat = setInterval(() => response.write(": still here\n\n"), secondsBetweenBeats * 1000);
      response.once("close", () => {
        clearInterval(beat);
        watchers.delete(response);
        // Nobody watches: reading on would cost.
        if (watchers.size === 0) stop();
      });
    },
    [Symbol.dispose]: () => {
      stop();
      for (const watcher of watchers) watcher.destroy();
    },
  };
}

function eventText({ id, happening }: Sent): string {
  return `id: ${id}\nevent: happening\ndata: ${JSON.stringify(happening)}\n\n`;
}

function stateText(state: "following" | "waiting" | "failed", reason?: string): string {
  return `event: state\ndata: ${JSON.stringify({ state, reason })}\n\n`;
}
