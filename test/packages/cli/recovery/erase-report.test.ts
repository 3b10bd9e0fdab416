import { reportText } from "@income-events/cli/commands/erase.ts";
import { failWhileOpen } from "@income-events/cli/recovery/erasure.ts";
import { describe, expect, it } from "vitest";

describe("an erasure that S3 refuses objects", () => {
  const refused = ["large bodies", "undelivered changes"] as const;

  it("is not reported as done, and fails the command", () => {
    const subject = { kind: "user", id: "0f8fad5b-d9cb-469f-a165-70867728950e" } as const;
    const report = { subjects: 1, removed: {}, incomplete: [], refused, isWaiting: true } as const;

    expect(reportText({ subject, ...report, isDryRun: false })).toMatch(/^The erasure .* is not finished/);
    expect(() => failWhileOpen([report])).toThrow(/S3 refuses large bodies and undelivered changes/);
  });

  it("fails no command once S3 gave them in the second pass", () => {
    expect(() => failWhileOpen([{ refused }])).not.toThrow();
  });
});
