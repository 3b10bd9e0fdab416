import { describe, expect, it } from "vitest";
import { drive } from "../../../proof/bench/drive/drive.ts";
import { differences, expectationOf, requireNothingLost } from "../../../proof/bench/drive/snapshot.ts";
import { Contenders } from "../../../proof/bench/measure/spending.ts";
import { workload } from "../../../proof/bench/workload.ts";

const load = workload({ seed: 3, events: 20, duplicates: 0.3 });

describe("what all must end with", () => {
  const expected = expectationOf(load);

  it("is each event once, the state of its subject, its data, and a message of each", () => {
    const sizes = Object.values(expected).map(({ size }) => size);
    expect(sizes).toEqual([20, 4, 14, 34]);
  });

  it.each(["events", "states", "data", "messages"] as const)(
    "is missed where one of the %s is lost, or is another",
    (list) => {
      const [first = "", ...others] = expected[list];
      const lost = { ...expected, [list]: new Set(others) };
      const changed = { ...expected, [list]: new Set([`${first}0`, ...others]) };
      expect(differences("theirs", expected, expected)).toEqual([]);
      expect(differences("theirs", expected, lost)).toEqual([
        expect.stringContaining(`theirs: of ${expected[list].size} ${list} 1 missing, 0 too many`),
      ]);
      expect(differences("theirs", expected, changed)).toEqual([
        expect.stringContaining("1 missing, 1 too many"),
      ]);
    },
  );
});

describe("implementations that take the same load", () => {
  it("count if both have all of it, and end the run if one has more than the other", async () => {
    await using contenders = await Contenders.start(() => undefined, ["ours", "floor"]);
    for (const running of contenders.running) await drive(running, load);
    await requireNothingLost(contenders.running, load);

    const [planted] = workload({ seed: 4, events: 10, duplicates: 0 });
    if (planted === undefined) throw new Error("the load is empty");
    await drive(contenders.of("floor").running, [planted]);
    // The first check took the subscriber's messages, so only the planted one is announced.
    await expect(requireNothingLost(contenders.running, load)).rejects.toThrow(
      /Floor: of 20 events 0 missing, 1 too many/,
    );
  });
});
