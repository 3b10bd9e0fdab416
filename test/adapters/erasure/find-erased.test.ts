import { beforeEach, describe, expect, test } from "vitest";
import { findErased } from "../../../adapters/erasure/find-erased.ts";
import { unerasedSeconds } from "../../../domain/recovery/erasure.ts";

const [ada, bea] = [
  { kind: "user", id: "ada" },
  { kind: "account", id: "bea" },
] as const;

describe("a function that looks for erased subjects", () => {
  const erased = new Set<string>();
  const clocks = { wall: 0, steady: 0 };
  let reads: string[];
  let find: ReturnType<typeof findErased>;
  beforeEach(() => {
    reads = [];
    erased.clear();
    Object.assign(clocks, { wall: 1_000_000, steady: 0 });
    const read = async ({ pk }: { readonly pk: string }) => {
      reads.push(pk);
      return [...erased].some((id) => pk.includes(id)) ? {} : undefined;
    };
    find = findErased(read, async ({ id }) => id, { clocks: [() => clocks.wall, () => clocks.steady] });
  });
  const pass = (seconds: number, names: readonly (keyof typeof clocks)[] = ["wall", "steady"]) => {
    for (const name of names) clocks[name] += seconds * 1_000;
  };

  test("reads each subject once while it remembers that it is not erased", async () => {
    await find([ada, bea, ada]);
    pass(unerasedSeconds - 1);
    expect([...(await find([bea, ada]))]).toEqual([]);
    expect(reads).toHaveLength(2);
  });

  test.each([
    ["all clocks", ["wall", "steady"]],
    ["the wall clock, while the process was frozen", ["wall"]],
    ["the steady clock, while the wall clock was set back", ["steady"]],
  ] as const)("notices an erasure once the time has passed by %s", async (_, names) => {
    await find([ada]);
    erased.add("ada");
    pass(unerasedSeconds, names);
    expect([...(await find([ada, bea]))]).toEqual(["user/ada"]);
  });

  test("counts the time from before its read, and does not prolong it by asking again", async () => {
    await find([ada]);
    pass(unerasedSeconds / 2);
    await find([ada]);
    erased.add("ada");
    pass(unerasedSeconds / 2);
    expect([...(await find([ada]))]).toEqual(["user/ada"]);
  });

  test("forgets a slow read in time, even if it ended after a quicker one that began later", async () => {
    const slow = Promise.withResolvers<undefined>();
    let answer: (() => Promise<undefined>) | undefined = () => slow.promise;
    const findSlowly = findErased(
      async () => {
        const read = answer;
        answer = undefined;
        if (read !== undefined) return read();
        return erased.size > 0 ? {} : undefined;
      },
      async ({ id }) => id,
      { clocks: [() => clocks.wall] },
    );
    const begun = findSlowly([ada]);
    await Promise.resolve();
    pass(1);
    await findSlowly([bea]);
    slow.resolve(undefined);
    await begun;
    erased.add("ada");
    pass(unerasedSeconds - 1);
    expect([...(await findSlowly([ada]))]).toEqual(["user/ada"]);
  });

  test("reads erased subjects each time: a tombstone ends", async () => {
    erased.add("ada");
    expect([...(await find([ada]))]).toEqual(["user/ada"]);
    erased.clear();
    expect([...(await find([ada]))]).toEqual([]);
    expect(reads).toHaveLength(2);
  });

  test("remembers nothing of a read that failed", async () => {
    let isDown = true;
    const failing = findErased(
      async () => {
        if (isDown) throw new Error("DynamoDB is down");
        return {};
      },
      async ({ id }) => id,
    );
    await expect(failing([ada])).rejects.toThrow("down");
    isDown = false;
    expect([...(await failing([ada]))]).toEqual(["user/ada"]);
  });
});
