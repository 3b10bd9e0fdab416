import { describe, expect, it } from "vitest";
import {
  type Crashes,
  choosePoints,
  crashFunctions,
  seedsForAll,
} from "../../../proof/chaos/crashes/crash-points.ts";
import { type Interference, type ObservedCall, observedCall } from "../../../proof/chaos/observed-call.ts";

const calling = (name: string, isFromFunction = true): ObservedCall => ({
  function: "FetchData",
  part: "sqs",
  action: "sqs:SendMessageBatch",
  name,
  isFromFunction,
  body: Buffer.alloc(0),
});

/** A function whose every invocation makes one call. */
function oneFunction(seed = 1, isAlive = () => true, others: Interference = async () => undefined) {
  let succeeded = 0;
  const killed: string[] = [];
  const crashes = crashFunctions(seed, {
    kill: (name) => (isAlive() && killed.push(name) ? 1 : 0),
    succeeded: () => succeeded,
  });
  const interference = crashes.around(others);
  /** @returns whether the call was sent, applied and answered */
  const invoke = async (call: ObservedCall) => {
    const before = killed.length;
    const first = await interference(call, "before");
    if (first === "cut") return "refused";
    if (first === "drop") return "unsent";
    if (killed.length > before) return "applied";
    if ((await interference(call, "after")) === "drop") return "unanswered";
    succeeded += 1;
    return "answered";
  };
  return { crashes, interference, invoke, killed };
}

const strikeAll = (crashes: Crashes) => crashes.crashAt(crashes.seen());

describe("crash points", () => {
  it("are each call that was seen, before it leaves, as soon as it left, and before its answer returns", async () => {
    const { crashes, invoke } = oneFunction();
    await invoke(calling("send"));
    await invoke(calling("send"));
    await invoke(calling("poll", false));
    expect(crashes.seen()).toEqual([
      "FetchData send unsent",
      "FetchData send applied",
      "FetchData send unanswered",
    ]);
  });

  it("of a batch of statements lie between two of them as well, with the first half applied", async () => {
    const { crashes, interference, killed } = oneFunction();
    const statements = ["a", "b", "c", "d"].map((pk) => ({
      Statement: `DELETE FROM "T" WHERE pk = '${pk}'`,
    }));
    const body = Buffer.from(JSON.stringify({ Statements: statements }));
    const call = { ...calling("dynamodb:BatchExecuteStatement table"), body };
    await interference(call, "before");
    const point = "FetchData dynamodb:BatchExecuteStatement table between";
    expect(crashes.seen()).toContain(point);
    crashes.crashAt([point]);
    const applied = await interference(call, "before");
    expect(applied).toMatchObject({ times: 1, body: JSON.stringify({ Statements: statements.slice(0, 2) }) });
    expect(killed).toEqual([]);
    expect([await interference(call, "after"), killed]).toEqual(["drop", ["FetchData"]]);
  });

  it("of a batch of statements are named by the kinds of its items, whose and which of them these are aside", () => {
    const nameOfBatch = (...statements: readonly string[]) => {
      const Statements = statements.map((Statement) => ({ Statement }));
      const resources = ["arn:aws:dynamodb:eu-central-1:000000000000:table/T"];
      const body = Buffer.from(JSON.stringify({ Statements }));
      const from = { id: 1, principal: "relay", service: "dynamodb", isFromFunction: true } as const;
      const call = { ...from, action: "dynamodb:BatchExecuteStatement", resources, body };
      return observedCall(call, () => "RelayChanges")?.name;
    };
    const update = `UPDATE "T" SET state = 1 WHERE pk = 'USER#u' AND sk = 'STATE'`;
    const insert = `INSERT INTO "T" VALUE {'pk': 'ACCOUNT#a', 'sk': 'STATE'}`;
    const link = `INSERT INTO "T" VALUE {'pk': 'USER#u', 'sk': 'ACCOUNT#a'}`;
    const states = "dynamodb:BatchExecuteStatement table/T STATE";
    expect([nameOfBatch(update), nameOfBatch(insert, update)]).toEqual([states, states]);
    expect(nameOfBatch(link, update)).toBe("dynamodb:BatchExecuteStatement table/T ACCOUNT STATE");
  });

  it("crash one at a time: a function crashes twice in a row at most before it succeeds once", async () => {
    const { crashes, invoke, killed } = oneFunction();
    const call = calling("send");
    expect(await invoke(call)).toBe("answered");
    strikeAll(crashes);
    const fates: string[] = [];
    for (let times = 0; times < 8; times += 1) fates.push(await invoke({ ...call }));
    const struck = ["unsent", "applied", "answered", "unanswered", "answered", "answered"];
    expect(fates).toEqual([...struck, "answered", "answered"]);
    expect(crashes.left()).toEqual([]);
    expect(killed).toHaveLength(3);
    expect(crashes.kills()).toBe(3);
  });

  it("are left if the calling process is already dead", async () => {
    let isAlive = false;
    const { crashes, invoke } = oneFunction(1, () => isAlive);
    crashes.crashAt(["FetchData send unsent"]);
    await invoke(calling("send"));
    expect([crashes.left(), crashes.kills()]).toEqual([["FetchData send unsent"], 0]);
    isAlive = true;
    await invoke(calling("send"));
    expect([crashes.left(), crashes.kills()]).toEqual([[], 1]);
  });

  it("are left while the answer of which the function is to die is under way", async () => {
    const { crashes, interference, killed } = oneFunction();
    crashes.crashAt(["FetchData send unanswered"]);
    const call = calling("send");
    await interference(call, "before");
    expect([crashes.left(), killed]).toEqual([["FetchData send unanswered"], []]);
    await interference(call, "after");
    expect([crashes.left(), killed]).toEqual([[], ["FetchData"]]);
  });

  it("crash while faults meet all other calls, and none of those that a function crashes at", async () => {
    const { crashes, invoke } = oneFunction(1, undefined, async (_, phase) =>
      phase === "before" ? "cut" : undefined,
    );
    const call = calling("send");
    expect(await invoke(call)).toBe("refused");
    crashes.crashAt(["FetchData send applied", "FetchData send unanswered"]);
    expect([await invoke({ ...call }), await invoke({ ...call })]).toEqual(["applied", "unanswered"]);
    expect(await invoke({ ...call })).toBe("refused");
  });

  it("are left if their call is never made", async () => {
    const { crashes, invoke } = oneFunction();
    crashes.crashAt(["FetchData never unsent"]);
    await invoke(calling("send"));
    expect(crashes.left()).toEqual(["FetchData never unsent"]);
  });

  it("of Lambda's own polling are none: no process of the function would be at work", async () => {
    const { crashes, invoke, killed } = oneFunction();
    crashes.crashAtRandom(1);
    expect(await invoke(calling("poll", false))).toBe("answered");
    expect(killed).toEqual([]);
  });

  it("at random are the same for the same seed", async () => {
    const fates = async (seed: number) => {
      const { crashes, invoke } = oneFunction(seed);
      crashes.crashAtRandom(0.3);
      const all: string[] = [];
      for (let call = 0; call < 30; call += 1) all.push(await invoke(calling("send")));
      return all;
    };
    expect(await fates(5)).toEqual(await fates(5));
    expect(await fates(5)).not.toEqual(await fates(6));
  });
});

describe("the points of a run", () => {
  const seen = Array.from({ length: 100 }, (_, index) => `F call-${index} unsent`);
  const chosen = (seed: number, isShort: boolean) => choosePoints(seen, { seed, isShort });

  it("cover every point once in a few consecutive seeds", () => {
    for (const first of [0, 1, 17]) {
      const seeds = Array.from({ length: seedsForAll }, (_, index) => first + index);
      expect(seeds.flatMap((seed) => chosen(seed, false)).toSorted()).toEqual(seen.toSorted());
    }
  });

  it("are a sample that the seed chooses in the short form", () => {
    expect(chosen(1, true)).toEqual(chosen(1, true));
    expect(chosen(1, true)).not.toEqual(chosen(2, true));
    expect(chosen(1, true).length).toBeLessThan(chosen(1, false).length);
  });
});
