import { describe, expect, it } from "vitest";
import { patience, runShort } from "./chaos-run.ts";

describe("npm run chaos", () => {
  it.each([
    ["duplicates", "key", "duplicated"],
    ["lost events", "delete-first", "lost"],
  ] as const)(
    "reports %s, with exit code 1, of a pipeline that is broken so that it has some",
    async (_, sabotage, reported) => {
      const { code, output, counted } = await runShort("--sabotage", sabotage);
      expect(code, output).toBe(1);
      expect(counted()[reported], output).toBeGreaterThan(0);
      expect(output).toContain(`! ${reported}: `);
    },
    patience,
  );
});
