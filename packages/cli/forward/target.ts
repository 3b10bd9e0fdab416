import { CommandError } from "../core/command-error.ts";

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
    `--to ${JSON.stringify(text)} is no address to post to: write one such as http://localhost:3000/events, without a password.`,
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
