import { setTimeout as wait } from "node:timers/promises";
import type { Answer } from "../http-server.ts";
import { jsonAnswer } from "./answer.ts";
import type { Call, Detour, Fault, Interceptor, Outcome } from "./types.ts";

/** The first interceptor that has an outcome for a call decides it. */
export async function firstOutcome(
  interceptors: ReadonlySet<Interceptor>,
  call: Call,
  phase: "before" | "after",
): Promise<Outcome> {
  for (const interceptor of interceptors) {
    const outcome = await interceptor(call, phase);
    if (outcome !== undefined) return outcome;
  }
  return undefined;
}

/** An outcome that takes the place of the service's answer. */
export type Refusal = Fault | "hang" | "drop";

export function isRefusal(outcome: Outcome): outcome is Refusal {
  return outcome === "hang" || outcome === "drop" || (typeof outcome === "object" && "status" in outcome);
}

/** Sends a call as its detour says: as often, with the body and the changes to the answer that it names. */
export async function forwardBy(
  { times = 1, body, answer: changed, delayAnswerMs = 0 }: Detour,
  original: Buffer,
  send: (body: Buffer) => Promise<Answer>,
): Promise<Answer> {
  const outgoing = body === undefined ? original : Buffer.from(body);
  let answer = jsonAnswer(200, {});
  for (let sent = 0; sent < times; sent += 1) answer = await send(outgoing);
  if (delayAnswerMs > 0) await wait(delayAnswerMs);
  if (changed === undefined || answer.status !== 200) return answer;
  const { "x-amz-crc32": _checksum, ...headers } = answer.headers;
  return { status: 200, headers, body: Buffer.from(changed(answer.body.toString())) };
}
