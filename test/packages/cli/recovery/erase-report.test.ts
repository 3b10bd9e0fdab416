import { reportText } from "@income-events/cli/commands/erase.ts";
import { expect, it } from "vitest";

it.each([true, false])(
  "says that queues of removed subscribers were not searched (dry run: %s)",
  (isDryRun) => {
    const subject = { kind: "user", id: "0f8fad5b-d9cb-469f-a165-70867728950e" } as const;

    const text = reportText({ subject, subjects: 1, removed: { states: 1 }, incomplete: [], isDryRun });

    expect(text).toContain("Incomplete: queues of removed or renamed subscribers were not searched");
  },
);
