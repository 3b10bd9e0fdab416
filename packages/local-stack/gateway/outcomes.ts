import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { type Answer, writeAnswer } from "../http-server.ts";
import { errorAnswer, jsonAnswer, rewrite } from "./answer.ts";
import type { Detour, Fault, Outcome, Service } from "./types.ts";

/** An outcome that replaces the service's answer. */
type Refusal = Fault | "hang" | "drop";

export function isRefusal(outcome: Outcome): outcome is Refusal {
  return outcome === "hang" || outcome === "drop" || (typeof outcome === "object" && "status" in outcome);
}

type Reply = {
  readonly response: ServerResponse;
  readonly service: Service | undefined;
};

/** Ends a call with an outcome that replaces the answer. */
export function refuse({ response, service }: Reply, outcome: Refusal): void {
  if (outcome === "hang") return;
  if (outcome === "drop") response.destroy();
  else writeAnswer(response, errorAnswer(service, outcome));
}

/** Sends half of the answer, then cuts the connection. */
export function cut(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, "content-length": body.length });
  response.write(body.subarray(0, body.length / 2), () => response.destroy());
}

/** Forwards a call as a detour describes: number of times, changed body, changed answer. */
export async function forwardBy(
  { times = 1, body, answer: changed, delayAnswerMs = 0 }: Detour,
  original: Buffer,
  send: (body: Buffer) => Promise<Answer>,
): Promise<Answer> {
  const outgoing = body === undefined ? original : Buffer.from(body);
  let answer = jsonAnswer(200, {});
  for (let sent = 0; sent < times; sent += 1) answer = await send(outgoing);
  if (delayAnswerMs > 0) await wait(delayAnswerMs);
  return rewrite(answer, changed);
}
