import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { closeServer, listen } from "@income-events/local-stack/http-server.ts";

/** Size and delay of its answers; may change between requests. */
export type Answers = { items: number; delayInMillis: number };

/**
 * A document with this many pay periods in the sandbox's shape, equally hard to compress, with ids and
 * amounts derived from its name.
 * @param name the account and the endpoint, `<id>/<endpoint>`
 */
export function documentOf(name: string, items: number): string {
  const data = Array.from({ length: items }, (_, index) => payPeriod(`${name}/${index}`, index));
  return JSON.stringify({ data });
}

function payPeriod(name: string, index: number) {
  const chance = createHash("sha256").update(name).digest();
  const hex = chance.toString("hex");
  const [gross, fees, taxes] = [90_000, 4_000, 20_000].map((cents, place) => {
    return Math.round(cents * (0.5 + chance.readUInt16LE(16 + 2 * place) / 65_536));
  });
  const day = (offset: number) => new Date(Date.UTC(2026, 9, 31 - 14 * index - offset)).toISOString();
  const money = (cents = 0) => (cents / 100).toFixed(2);
  return {
    id: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`,
    date_start: day(13).slice(0, 10),
    date_end: day(0).slice(0, 10),
    paid_at: `${day(-3).slice(0, 10)}T0${chance.readUInt8(22) % 10}:${10 + (chance.readUInt8(23) % 50)}:00Z`,
    currency: "USD",
    gross: money(gross),
    fees: money(fees),
    taxes: money(taxes),
    net: money((gross ?? 0) - (fees ?? 0) - (taxes ?? 0)),
  };
}

/** Default answers. */
export const usual: Answers = { items: 2, delayInMillis: 0 };

/** Document name in `/…/accounts/<id>/<endpoint>?…`. */
function documentNameIn(path = ""): string {
  return /\/accounts\/([^/]+\/[^/?]+)/.exec(path)?.[1] ?? path;
}

/** Answer in place of data, by milliseconds since the first call; undefined: data. */
export type Fault = { readonly status: number; readonly headers?: Readonly<Record<string, string>> };
export type FaultAt = (millis: number) => Fault | undefined;

export async function startProvider(faultAt: FaultAt = () => undefined, answers: Answers = usual) {
  let calls = 0;
  let rounds = 0;
  let answering = 0;
  let began: number | undefined;
  const server = createServer((request, response) => {
    calls += 1;
    if (answering === 0) rounds += 1;
    answering += 1;
    response.on("close", () => {
      answering -= 1;
    });
    began ??= performance.now();
    const fault = faultAt(performance.now() - began);
    request.resume().on("end", async () => {
      if (answers.delayInMillis > 0) await sleep(answers.delayInMillis);
      const isStart = request.method === "POST";
      const document = () => documentOf(documentNameIn(request.url), answers.items);
      const body = isStart || fault !== undefined ? "{}" : document();
      response.writeHead(fault?.status ?? (isStart ? 202 : 200), {
        ...fault?.headers,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
      });
      response.end(body);
    });
  });
  const port = await listen(server);
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    calls: () => calls,
    /** Number of waits for it; overlapping calls count as one. */
    rounds: () => rounds,
    isAnswering: () => answering > 0,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}
