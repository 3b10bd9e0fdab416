import { describe, expect, it } from "vitest";
import { patience, runShort } from "./chaos-run.ts";

describe("npm run chaos", () => {
  it(
    "loses and duplicates nothing while functions are killed and every class of faults fires",
    async () => {
      const { code, output, counted } = await runShort("--tries", "3");
      expect(code, output).toBe(0);
      const { sent, stored, deadlettered, refused, lost, duplicated, struck, points } = counted();
      expect({ lost, duplicated, struck }).toEqual({ lost: 0, duplicated: 0, struck: points });
      expect(stored + deadlettered + refused).toBe(sent);
    },
    patience,
  );
});
