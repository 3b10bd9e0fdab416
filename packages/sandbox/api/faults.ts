import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { type AnswerEncoding, answerEncodings } from "./encodings.ts";

/** Effects of a fault beyond a status. */
export const faultEffects = [
  "hang",
  "slow-body",
  "large-body",
  "malformed-json",
  "maintenance",
  "empty",
  "cut",
  "error-in-body",
  "wrong-charset",
  "wrong-coding",
  "bomb",
  "redirect",
  "forget-accounts",
] as const;
export type FaultEffect = (typeof faultEffects)[number];

/** Success statuses that carry no usable data. */
const withoutData = [202, 204, 206];

/** Answers matching calls with `status`, or as `effect` describes. */
export type Fault = {
  /** Start of the path, or the source of a regular expression to find in it; absent: every path. */
  readonly path?: string;
  /** Absent: every method. */
  readonly method?: string;
  /** 202, 204, 206, or 300 to 599. Either `status` or `effect` is required. */
  readonly status?: number;
  /**
   * `hang`: never answers; `slow-body`: one byte each 100 ms, endlessly; `large-body`: 50 MB;
   * `malformed-json`: truncated JSON; `maintenance`: 200 with an HTML page; `empty`: 200 without a body;
   * `cut`: a body shorter than its Content-Length; `error-in-body`: 200 with `{"error": {"code":
   * "PRODUCT_NOT_READY"}}`; `wrong-charset`, `wrong-coding`: bytes that do not match their headers; `bomb`:
   * 50 MB as 50 KB of gzip; `redirect`: 302 to `location`; `forget-accounts`: lists of accounts are empty,
   * and an account's state is 404. An encoding sends the true answer in it.
   */
  readonly effect?: FaultEffect | AnswerEncoding;
  /** Redirect target, a URL or a path; absent: another path of the service. */
  readonly location?: string;
  /** Number of calls that the fault affects; default 1, or unlimited with a share or seconds. */
  readonly times?: number;
  /** Share of the matching calls that the fault affects, over 0 up to 1 (default). */
  readonly share?: number;
  readonly retryAfterSeconds?: number;
  /** Seconds after which the fault ends; absent: only `times` ends it. */
  readonly forSeconds?: number;
};

export type Faults = ReturnType<typeof createFaults>;

type Planned = {
  readonly fault: Fault;
  readonly pattern: RegExp;
  /** Milliseconds since 1970. */
  readonly until: number;
  left: number;
  due: number;
};

/** Paths of accounts' states and users' lists of accounts. */
const stateOrList = "/(company-)?accounts(/[^/]+)?$";

/** @param now system time: operators wait a fault's seconds in real time */
export function createFaults(now: () => number = Date.now) {
  let planned: Planned[] = [];
  const meets = (plan: Planned) => {
    // Spreads shares evenly instead of randomly: a half is every other call.
    plan.due += plan.fault.share ?? 1;
    // The sum of ten tenths is slightly less than one.
    if (plan.due < 1 - 1e-9) return false;
    plan.due -= 1;
    return true;
  };
  return {
    /** @throws a range or syntax error naming the invalid part */
    add: (fault: Fault): void => {
      check(fault);
      const isLasting = fault.share !== undefined || fault.forSeconds !== undefined;
      const left = fault.times ?? (isLasting ? Number.POSITIVE_INFINITY : 1);
      const until = now() + (fault.forSeconds ?? Number.POSITIVE_INFINITY) * 1000;
      const anyPath = fault.effect === "forget-accounts" ? stateOrList : "";
      planned.push({ fault, pattern: new RegExp(fault.path ?? anyPath), until, left, due: 0 });
    },
    /** Returns the fault for a call, and counts it. */
    take: (method: string, path: string): Fault | undefined => {
      planned = planned.filter(({ until }) => until > now());
      const found = planned.find((plan) => matches(plan, method, path) && meets(plan));
      if (found === undefined) return undefined;
      found.left -= 1;
      planned = planned.filter(({ left }) => left > 0);
      return found.fault;
    },
    clear: (): void => {
      planned = [];
    },
  };
}

function matches({ fault, pattern }: Planned, method: string, path: string): boolean {
  return (fault.method === undefined || fault.method.toUpperCase() === method) && pattern.test(path);
}

function check({ status, effect, location, times, share, forSeconds }: Fault): void {
  if ((status === undefined) === (effect === undefined)) {
    throw new RangeError("a fault has either a status or an effect");
  }
  if (status !== undefined && !withoutData.includes(status) && !isFailure(status)) {
    throw new RangeError(
      `a fault's status is ${withoutData.join(", ")} or between 300 and 599, not ${status}`,
    );
  }
  if (location !== undefined && effect !== "redirect") {
    throw new RangeError("only the effect redirect has a location");
  }
  if (times !== undefined && (!Number.isInteger(times) || times < 1)) {
    throw new RangeError(`a fault happens 1 time or more, not ${times}`);
  }
  if (forSeconds !== undefined && !(forSeconds > 0)) {
    throw new RangeError(`a fault lasts more than 0 seconds, not ${forSeconds}`);
  }
  if (share !== undefined && !(share > 0 && share <= 1)) {
    throw new RangeError(`a fault's share is over 0 and at most 1, not ${share}`);
  }
}

function isFailure(status: number): boolean {
  return Number.isInteger(status) && status >= 300 && status <= 599;
}

/** Returns the encoding of a fault's answer; undefined for other faults. */
export function encodingOf({ effect }: Fault): AnswerEncoding | undefined {
  return answerEncodings.find((encoding) => encoding === effect);
}

const megabyte = 1024 * 1024;
const largeBodyMegabytes = 50;
const slowByteMs = 100;
const json = { "content-type": "application/json" };
const gzip = { ...json, "content-encoding": "gzip" };

export type PlayedFault = Fault & { readonly effect: FaultEffect };

export function isPlayed(fault: Fault): fault is PlayedFault {
  return faultEffects.some((effect) => effect === fault.effect);
}

/**
 * Answers a call with the effect.
 * @returns the status; 0 if there is no answer
 */
export function playFault(fault: PlayedFault, path: string, response: ServerResponse): number {
  plays[fault.effect](response, fault, path);
  return response.headersSent ? response.statusCode : 0;
}

type Play = (response: ServerResponse, fault: Fault, path: string) => unknown;

const answers =
  (headers: OutgoingHttpHeaders, body: string | Buffer): Play =>
  (response) =>
    response.writeHead(200, headers).end(body);

const plays: Readonly<Record<FaultEffect, Play>> = {
  hang: () => undefined,
  "slow-body": (response) => trickle(response.writeHead(200, json)),
  "large-body": (response) => Readable.from(largeBody()).pipe(response.writeHead(200, json)),
  "malformed-json": answers(json, '{"data": [{"id": "'),
  maintenance: (response) => response.writeHead(200, { "content-type": "text/html" }).end(maintenancePage),
  empty: answers(json, ""),
  cut: (response) =>
    response
      .writeHead(200, { ...json, "content-length": "1000" })
      .write('{"data": []}', () => response.destroy()),
  "error-in-body": answers(json, '{"error": {"code": "PRODUCT_NOT_READY"}, "data": []}'),
  "wrong-charset": answers(
    { "content-type": "application/json; charset=utf-8" },
    Buffer.from('{"data": "é"}', "latin1"),
  ),
  "wrong-coding": answers(gzip, '{"data": []}'),
  bomb: (response) =>
    response.writeHead(200, gzip).end(gzipSync(Buffer.alloc(largeBodyMegabytes * megabyte, " "))),
  redirect: (response, { location = "/elsewhere" }) => response.writeHead(302, { location }).end(),
  "forget-accounts": (response, _fault, path) => {
    const isList = path.endsWith("accounts");
    return response.writeHead(isList ? 200 : 404, json).end(isList ? "[]" : "{}");
  },
};

const maintenancePage =
  "<!doctype html><html><head><title>Maintenance</title></head><body><h1>We will be back soon</h1></body></html>";

function trickle(response: ServerResponse): void {
  response.write('{"data": [');
  const timer = setInterval(() => response.write(" "), slowByteMs);
  response.once("close", () => clearInterval(timer));
}

function* largeBody() {
  yield '{"data": "';
  for (let made = 0; made < largeBodyMegabytes; made += 1) yield "x".repeat(megabyte);
  yield '"}';
}
