import { beforeEach, describe, expect, it } from "vitest";
import { GuardedApi } from "../../../adapters/provider/provider-client.ts";
import { failureOf, permanent, refusedCall, retryable, waiting } from "../../../domain/core/failures.ts";
import { type ApiAnswer, dataIn, Unauthorized } from "../../../domain/fetch/answer.ts";
import { type CallResult, closed } from "../../../domain/fetch/call-limits.ts";
import { unlimited } from "../../support/provider-limits.ts";

const call = { method: "GET", path: "/users", serviceTime: 5 } as const;
const answer: ApiAnswer = { found: true, ...dataIn("[]") };
const rateUsedUp = waiting("the provider's rate is used up", 2, 60);

/** Events of the wrapped call, in order. */
function guarded(outcome: () => Promise<ApiAnswer>) {
  const steps: unknown[] = [];
  const admit = async () => {
    steps.push("admit");
    return async (sign: CallResult) => void steps.push(sign);
  };
  const permit = async (serviceTime?: number) => {
    steps.push(`permit ${serviceTime}`);
    return () => void steps.push("ended");
  };
  const make = () => {
    steps.push("call");
    return outcome();
  };
  const gate = () => undefined;
  const load = async () => closed;
  const guarded = new GuardedApi({
    api: { send: make },
    breaker: { admit, gate, load },
    limiter: { permit, gate },
    patienceInSeconds: 0,
    now: () => new Date(),
  });
  return { steps, run: () => guarded.send("token", call) };
}

describe("a guarded call", () => {
  it("is admitted, permitted, made and reported, in this order", async () => {
    const { steps, run } = guarded(async () => answer);
    expect(await run()).toBe(answer);
    expect(steps).toEqual(["admit", "permit 5", "call", "healthy", "ended"]);
  });

  it.each([
    ["refuses the token", new Unauthorized()],
    ["refuses the call for good", permanent("the provider answered 400")],
  ])("that %s reports the provider as healthy", async (_, error) => {
    const { steps, run } = guarded(() => Promise.reject(error));
    await expect(run()).rejects.toBe(error);
    expect(steps.slice(-2)).toEqual(["healthy", "ended"]);
  });

  it("that fails reports how long the provider asks to wait", async () => {
    const error = retryable("the provider answered 429", 30);
    const { steps, run } = guarded(() => Promise.reject(error));
    await expect(run()).rejects.toBe(error);
    expect(steps.slice(-2)).toEqual([{ pauseInSeconds: 30 }, "ended"]);
  });
});

describe("a call that is refused", () => {
  let time: number;
  let answers: ReadonlySet<string>;
  let reports: CallResult[];
  let guarded: GuardedApi;
  beforeEach(() => {
    time = 0;
    answers = new Set();
    reports = [];
    guarded = new GuardedApi({
      api: {
        send: async (_, { path }) => {
          if (answers.has(path)) return answer;
          throw refusedCall("the provider answered 403");
        },
      },
      breaker: {
        admit: async () => async (result) => void reports.push(result),
        gate: () => undefined,
        load: async () => closed,
      },
      limiter: unlimited,
      patienceInSeconds: 0,
      now: () => new Date(time),
    });
  });
  const outcomeOf = async (path: string) => {
    const outcome = await guarded.send("token", { method: "GET", path }).then(() => undefined, failureOf);
    return outcome?.type === "retryable" ? outcome.refused : outcome;
  };

  it("counts once in a run, however often it is made, until the provider answers another one", async () => {
    answers = new Set(["/b"]);
    for (const path of ["/a", "/a", "/c", "/a", "/b", "/a"]) await outcomeOf(path);
    const [first, repeated] = [{ pauseInSeconds: 0 }, { pauseInSeconds: 0, isRepeated: true }];
    expect(reports).toEqual([first, repeated, first, repeated, "healthy", first]);
  });

  it("counts as refused alone only if another call was answered lately, and none refused since", async () => {
    expect(await outcomeOf("/a")).toBe("unknown");
    answers = new Set(["/b"]);
    await outcomeOf("/b");
    expect(await outcomeOf("/a")).toBe("alone");
    expect(await outcomeOf("/c")).toBe("unknown");
    expect(await outcomeOf("/a")).toBe("unknown");
    await outcomeOf("/b");
    time = 5 * 60_000 + 1;
    expect(await outcomeOf("/a")).toBe("unknown");
    answers = new Set(["/a"]);
    await outcomeOf("/a");
    answers = new Set();
    expect(await outcomeOf("/a")).toBe("unknown");
  });
});

describe("a token that is refused", () => {
  let time: number;
  let answers: (status: string) => Promise<ApiAnswer>;
  let guarded: GuardedApi;
  let status: string;
  beforeEach(() => {
    time = 0;
    answers = async (status) => {
      if (status === "401") throw new Unauthorized();
      return answer;
    };
    guarded = new GuardedApi({
      api: { send: () => answers(status) },
      limiter: unlimited,
      patienceInSeconds: 0,
      now: () => new Date(time),
    });
  });

  /** Makes a call a second later. @returns whether the token was refused for it alone; undefined if it was answered */
  const isAlone = async (call: string, afterMillis = 1_000) => {
    time += afterMillis;
    const [first = "", path = "", token = "token"] = call.split(" ");
    status = first;
    const error = await guarded.send(token, { method: "GET", path }).then(
      () => undefined,
      (error: unknown) => error,
    );
    return error instanceof Unauthorized ? error.isAlone : undefined;
  };

  it.each<[string, readonly string[], boolean]>([
    ["another call was answered in between", ["401 /a", "200 /b", "401 /a"], true],
    ["others were answered before and after", ["200 /b", "401 /a", "200 /b", "200 /c", "401 /a"], true],
    ["it is refused more often", ["401 /a", "200 /b", "401 /a", "401 /a", "401 /a"], true],
    ["others are refused before that", ["401 /a", "401 /b", "401 /a", "200 /c", "401 /a"], true],
    ["it is refused the first time", ["200 /b", "401 /a"], false],
    ["no other was answered since", ["200 /b", "401 /a", "401 /a"], false],
    ["another was refused since", ["401 /a", "200 /b", "401 /c", "401 /a"], false],
    ["itself was answered since", ["401 /a", "200 /b", "200 /a", "401 /a"], false],
    ["the answer was to another token", ["401 /a old", "200 /b new", "401 /a new"], false],
    ["both tokens were refused", ["401 /a old", "401 /a new", "200 /b new", "401 /a new"], true],
  ])("is refused for one call alone, or not, if %s", async (_, calls, expected) => {
    let last: boolean | undefined;
    for (const call of calls) last = await isAlone(call);
    expect(last).toBe(expected);
  });

  it("is refused for one call alone only while the other answer is at most five minutes old", async () => {
    for (const call of ["401 /a", "200 /b"]) await isAlone(call);
    expect(await isAlone("401 /a", 5 * 60_000)).toBe(true);
    expect(await isAlone("401 /a", 1)).toBe(false);
  });

  it("is not refused for one call alone if the answered call began before its first refusal", async () => {
    const slow = Promise.withResolvers<ApiAnswer>();
    const usual = answers;
    answers = () => slow.promise;
    const other = isAlone("200 /b");
    answers = usual;
    await isAlone("401 /a");
    slow.resolve(answer);
    await other;
    expect(await isAlone("401 /a")).toBe(false);
    await isAlone("200 /b");
    expect(await isAlone("401 /a")).toBe(true);
  });
});

describe("the patience of a call", () => {
  let time = 0;
  const slept: number[] = [];
  const sleep = async (milliseconds: number) => {
    slept.push(milliseconds);
    time += milliseconds;
  };
  const patiently = (permit: () => Promise<undefined>, seconds: number) => {
    time = 0;
    slept.length = 0;
    const guarded = new GuardedApi({
      api: { send: async () => answer },
      limiter: { ...unlimited, permit },
      patienceInSeconds: seconds,
      now: () => new Date(time),
      sleep,
    });
    return guarded.send("token", call);
  };

  it("retries at each window until there is a permit", async () => {
    await patiently(async () => {
      if (time < 6_000) throw rateUsedUp;
    }, 20);
    expect(slept).toEqual([2_000, 2_000, 2_000]);
  });

  it("ends at its limit, before the function's time is over", async () => {
    await expect(patiently(() => Promise.reject(rateUsedUp), 5)).rejects.toBe(rateUsedUp);
    expect(slept).toEqual([2_000, 2_000]);
  });

  it("without patience asks once", async () => {
    await expect(patiently(() => Promise.reject(waiting("rate", 0)), 0)).rejects.toThrow("rate");
    expect(slept).toEqual([]);
  });

  it("waits only for the rate", async () => {
    const error = new Error("table");
    await expect(patiently(() => Promise.reject(error), 20)).rejects.toBe(error);
    await expect(patiently(() => Promise.reject(retryable("x", 1)), 20)).rejects.toThrow("x");
    expect(slept).toEqual([]);
  });
});
