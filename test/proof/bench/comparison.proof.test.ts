import { describe, expect, it } from "vitest";
import { drive } from "../../../proof/bench/drive/drive.ts";
import { requireNothingLost } from "../../../proof/bench/drive/snapshot.ts";
import { startContenders } from "../../../proof/bench/measure/spending.ts";
import { workload } from "../../../proof/bench/workload.ts";

const load = workload({ seed: 3, events: 20, duplicates: 0.3 });

describe("implementations that take the same load", () => {
  it("count if both have all of it, and end the run if one has more than the other", async () => {
    await using contenders = await startContenders(() => undefined, ["ours", "floor"]);
    for (const running of contenders.running) await drive(running, load);
    await requireNothingLost(contenders.running, load);

    const [planted] = workload({ seed: 4, events: 10, duplicates: 0 });
    if (planted === undefined) throw new Error("the load is empty");
    await drive(contenders.of("floor"), [planted]);
    // The first check took the subscriber's messages, so only the planted one is announced.
    await expect(requireNothingLost(contenders.running, load)).rejects.toThrow(
      /Floor: of 20 events 0 missing, 1 too many/,
    );
  });
});
