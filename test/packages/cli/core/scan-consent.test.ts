import { describe, expect, it } from "vitest";
import { agreeOnScan, scanProgress } from "../../../../packages/cli/core/scan-consent.ts";

describe("a scan", () => {
  const agree = async (size: { items: number; bytes: number }) => {
    const reported: string[] = [];
    const asked: string[] = [];
    const terminal = {
      progress: (text: string) => void reported.push(text),
      confirm: async (text: string) => void asked.push(text),
    };
    await agreeOnScan(size, terminal);
    return { reported, asked };
  };

  it("of a small table is announced with its cost", async () => {
    expect(await agree({ items: 12_345, bytes: 15_000_000 })).toEqual({
      reported: [
        "This reads the whole table: about 12,345 items, 15 MB, 1,832 read units, below US$ 0.01 at the list price of us-east-1.",
      ],
      asked: [],
    });
  });

  it("that costs more than ten cents is asked for", async () => {
    const { reported, asked } = await agree({ items: 90_000_000, bytes: 100_000_000_000 });
    expect(reported).toEqual([]);
    expect(asked).toEqual([
      expect.stringContaining("100,000 MB, 12,207,032 read units, about US$1.53 at the list price"),
    ]);
  });

  it("reports each tenth of the table, and not its end", () => {
    const reported: string[] = [];
    const report = scanProgress({ items: 100, bytes: 0 }, { progress: (text) => void reported.push(text) });
    for (const read of [1, 11, 12, 35, 99, 100, 120]) report(read, 1);
    expect(reported).toEqual([
      "Read 11 of about 100 items; 1 found.",
      "Read 35 of about 100 items; 1 found.",
      "Read 99 of about 100 items; 1 found.",
    ]);
  });
});
