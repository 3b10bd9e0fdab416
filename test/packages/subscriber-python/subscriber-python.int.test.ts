import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checks } from "../../../packages/subscriber/checks.ts";
import { createReader, inMemory, monthlyIncome } from "../../../packages/subscriber/index.ts";
import { exampleOf } from "../../../scripts/documents/examples.ts";
import { messageHistories } from "../../domain/message/message-histories.ts";
import { askPython, runsPython } from "../../support/python.ts";
import { documentsOfIncome, documentsOfOne } from "../subscriber/income-documents.ts";

describe.skipIf(!runsPython)("the reader in Python", () => {
  it("knows the types of messages, and which of them replace each other", () => {
    const newestOf = Object.entries(checks).map(([type, check]) => [type, check.newestOf]);
    expect(askPython([["types", null]])).toEqual([Object.fromEntries(newestOf)]);
  });

  it("decides as the reader in TypeScript does: duplicates, reordering, erasure, later types, what breaks the contract", async () => {
    const text = (message: object) => JSON.stringify(message);
    const message = exampleOf("account.connected");
    const odd = [
      ...["", "no message", "null", "[]", '"text"', "{}"],
      ...Object.keys(message).map((field) => text({ ...message, [field]: undefined })),
      ...Object.keys(message).map((field) => text({ ...message, [field]: 1 })),
      ...[{ sequence: "1" }, { source: "/elsewhere" }, { time: "today" }, { replayid: "" }].map((change) =>
        text({ ...message, ...change }),
      ),
      ...["one", "of the same sequence"].map((id) => text({ ...message, id })),
      text({ ...message, id: "later", type: "account.merged", data: undefined }),
    ];
    const deliveries = messageHistories.chain((messages) =>
      fc.shuffledSubarray([...messages, ...messages], { minLength: messages.length }),
    );
    const histories = [odd, ...fc.sample(deliveries, 200).map((history) => history.map(text))];
    const expected = await Promise.all(
      histories.map(async (bodies) => {
        const handed: string[] = [];
        const handle = ({ id }: { readonly id: string }) => void handed.push(id);
        const read = createReader({ memory: inMemory(), handle });
        const results: [boolean, string][] = [];
        for (const body of bodies) {
          const { settled, as } = await read(body);
          results.push([settled, as]);
        }
        return [handed, results];
      }),
    );
    expect(askPython(histories.map((bodies) => ["outcomes", bodies] as const))).toEqual(expected);
  });

  it("adds up income by month as TypeScript does, and refuses the same payments", () => {
    const cases = [...fc.sample(documentsOfIncome, 200), ...documentsOfOne];
    const expected = cases.map((documents) => {
      try {
        return monthlyIncome(documents);
      } catch (error) {
        return error instanceof Error ? error.message : error;
      }
    });
    expect(askPython(cases.map((documents) => ["income", documents] as const))).toEqual(expected);
  });
});
