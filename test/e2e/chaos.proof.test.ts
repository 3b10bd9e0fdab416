import { describe, expect, it } from "vitest";
import { patience, runShort } from "./chaos-run.ts";

describe("npm run chaos", () => {
  it(
    "reports duplicates, with exit code 1, if the store writes each receipt under its own key",
    async () => {
      const { code, output, counted } = await runShort("--sabotage", "key");
      expect(code, output).toBe(1);
      expect(counted().duplicated, output).toBeGreaterThan(0);
      expect(output).toContain("! duplicated: ");
    },
    patience,
  );
});
