import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { type AnswerEncoding, answerEncodings } from "./encodings.ts";

/** What can go wrong with an answer beyond its status. */
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

/** Statuses that no failure has, and that hold no data either. */
const withoutData = [202, 204, 206];

/** Calls that match are answered with `status`, or as the effect says. */
export type Fault = {
  /** A path's beginning, or the source of a regular expression that is found in it; unset: every path. */
  readonly path?: string;
  /** Unset: every method. */
  readonly method?: string;
  /** 202, 204, 206, or 300 to 599. One of `status` and `effect` is needed. */
  readonly status?: number;
  /**
   * `hang`: no answer ever; `slow-body`: a byte each 100 ms, without end; `large-body`: 50 MB; `malformed-json`: JSON
   * that breaks off; `maintenance`: 200 with a page; `empty`: 200 with nothing; `cut`: a body shorter than its length
   * says; `error-in-body`: 200 with `{"error": {"code": "PRODUCT_NOT_READY"}}`; `wrong-charset`, `wrong-coding`: bytes
   * that are not what their headers say; `bomb`: 50 MB as 50 KB of gzip; `redirect`: 302 to `location`;
   * `forget-accounts`: lists of accounts are empty, and an account's state is 404. An encoding sends the true answer in it.
   */
  readonly effect?: FaultEffect | AnswerEncoding;
  /** Where a redirect leads: an address or a path; unset: another path of the service. */
  readonly location?: string;
  /** After this many calls the fault is over; default 1, or no end where a share or seconds are given. */
  readonly times?: number;
  /** The part of the matching calls that meets the fault, over 0 up to 1 (default). */
  readonly share?: number;
  readonly retryAfterSeconds?: number;
  /** After so many seconds the fault is over, however often it happened; unset: only `times` ends it. */
  readonly forSeconds?: number;
};

export type Faults = {
  /** @throws a range or syntax error that names what is wrong */
  add(fault: Fault): void;
  /** The fault that a call meets; it is counted as met. */
  take(method: string, path: string): Fault | undefined;
  clear(): void;
};

type Planned = {
  readonly fault: Fault;
  readonly pattern: RegExp;
  /** Milliseconds since 1970. */
  readonly until: number;
  left: number;
  due: number;
};

/** What tells which accounts there are: their states and a user's list. */
const stateOrList = "/(company-)?accounts(/[^/]+)?$";

/** @param now of the system's time: a fault's seconds are those that an operator waits */
export function createFaults(now: () => number = Date.now): Faults {
  let planned: Planned[] = [];
  const meets = (plan: Planned) => {
    // Shares are dealt out evenly, not by chance: a half is every other call.
    plan.due += plan.fault.share ?? 1;
    // The sum of ten tenths is a little less than one.
    if (plan.due < 1 - 1e-9) return false;
    plan.due -= 1;
    return true;
  };
  return {
    add: (fault) => {
      check(fault);
      const isLasting = fault.share !== undefined || fault.forSeconds !== undefined;
      const left = fault.times ?? (isLasting ? Number.POSITIVE_INFINITY : 1);
      const until = now() + (fault.forSeconds ?? Number.POSITIVE_INFINITY) * 1000;
      const anyPath = fault.effect === "forget-accounts" ? stateOrList : "";
      planned.push({ fault, pattern: new RegExp(fault.path ?? anyPath), until, left, due: 0 });
    },
    take: (method, path) => {
      planned = planned.filter(({ until }) => until > now());
      const found = planned.find((plan) => matches(plan, method, path) && meets(plan));
      if (found === undefined) return undefined;
      found.left -= 1;
      planned = planned.filter(({ left }) => left > 0);
      return found.fault;
    },
    clear: () => {
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

/** The encoding that a fault sends the true answer in; undefined where it is another fault. */
export function encodingOf({ effect }: Fault): AnswerEncoding | undefined {
  return answerEncodings.find((encoding) => encoding === effect);
}

const megabyte = 1024 * 1024;
const largeBodyMegabytes = 50;
const slowByteMs = 100;

/** A fault that is more than a status. */
export type PlayedFault = Fault & { readonly effect: FaultEffect };

export function isPlayed(fault: Fault): fault is PlayedFault {
  return faultEffects.some((effect) => effect === fault.effect);
}

/** Answers a path as the effect says. @returns the status; 0 where there is no answer */
export function playFault({ effect, location }: PlayedFault, path: string, response: ServerResponse): number {
  const json = { "content-type": "application/json" };
  switch (effect) {
    case "hang":
      return 0;
    case "slow-body":
      response.writeHead(200, json);
      trickle(response);
      return 200;
    case "large-body":
      response.writeHead(200, json);
      Readable.from(largeBody()).pipe(response);
      return 200;
    case "malformed-json":
      response.writeHead(200, json).end('{"data": [{"id": "');
      return 200;
    case "maintenance":
      response.writeHead(200, { "content-type": "text/html" }).end(maintenancePage);
      return 200;
    case "empty":
      response.writeHead(200, json).end();
      return 200;
    case "cut":
      response.writeHead(200, { ...json, "content-length": "1000" });
      response.write('{"data": []}', () => response.destroy());
      return 200;
    case "error-in-body":
      response.writeHead(200, json).end('{"error": {"code": "PRODUCT_NOT_READY"}, "data": []}');
      return 200;
    case "wrong-charset":
      response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
      response.end(Buffer.from('{"data": "é"}', "latin1"));
      return 200;
    case "wrong-coding":
      response.writeHead(200, { ...json, "content-encoding": "gzip" }).end('{"data": []}');
      return 200;
    case "bomb":
      response.writeHead(200, { ...json, "content-encoding": "gzip" });
      response.end(gzipSync(Buffer.alloc(largeBodyMegabytes * megabyte, " ")));
      return 200;
    case "forget-accounts": {
      const isList = path.endsWith("accounts");
      response.writeHead(isList ? 200 : 404, json).end(isList ? "[]" : "{}");
      return isList ? 200 : 404;
    }
    case "redirect":
      response.writeHead(302, { location: location ?? "/elsewhere" }).end();
      return 302;
  }
}

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
