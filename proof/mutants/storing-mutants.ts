import type { ProtocolMutant } from "./protocol-mutant.ts";
import { model } from "./protocol-tests.ts";

const table = "test/adapters/dynamodb/event-table.int.test.ts";
const writes = "test/adapters/dynamodb/shared-writes.int.test.ts";

/** How receipts are stored: each condition of a count, and what becomes of each statement of a batch. */
export const storingMutants: readonly ProtocolMutant[] = [
  {
    name: "count over a receipt that another one counted",
    breaks: "Stored once",
    file: "adapters/dynamodb/event-table.ts",
    code: '{ path: ["receipts", "count"], is: "=", value: known.count },',
    instead: "",
    tests: [table],
  },
  {
    name: "count what was erased and came anew",
    breaks: "Stored once",
    file: "adapters/dynamodb/event-table.ts",
    code: '{ path: ["receipts", "last"], is: "=", value: known.last },',
    instead: "",
    tests: [table],
  },
  {
    name: "write equal events of a batch one by one",
    breaks: "Stored once",
    file: "adapters/dynamodb/event-table.ts",
    code: "mergeReceipts(receipts, (receipt) => receipt).map(async (merged) => {",
    instead:
      "receipts.map(async (receipt) => {\n      const merged: Merged = { receipt, messages: [receipt.message] };",
    tests: [table],
  },
  {
    name: "insert what may be known without a look",
    breaks: "Stored once",
    file: "adapters/dynamodb/event-table.ts",
    code: "let known = await receiptsOf(look, key);",
    instead: "let known: Receipts | undefined = look && undefined;",
    tests: [table],
  },
  {
    name: "look again where a write may still be missing",
    breaks: "Stored once",
    file: "adapters/dynamodb/event-table.ts",
    code: "known = await receiptsOf(lookAgain, key);",
    instead: "known = await receiptsOf(lookAgain && look, key);",
    tests: [table],
  },
  {
    name: "take a statement that failed for a write",
    breaks: "Never dropped silently",
    file: "adapters/dynamodb/shared-writes.ts",
    code: "if (response !== undefined && response.Error === undefined) ",
    instead: "if (response !== undefined) ",
    tests: [writes],
  },
  {
    name: "give a failed statement up with the others",
    breaks: "Never dropped silently",
    file: "adapters/dynamodb/shared-writes.ts",
    code: "await Promise.all(batch.map((pending) => this.#send([pending])));",
    instead: "for (const { reject } of batch) reject(error);",
    tests: [writes],
  },
  {
    name: "name a key twice in one request",
    breaks: "Never dropped silently",
    file: "adapters/dynamodb/shared-writes.ts",
    code: "of roundsOf(writes, ({ key }) => key)",
    instead: "of roundsOf(writes, ({ key }) => key).slice(0, 0).concat([writes])",
    tests: [writes],
  },
  {
    name: "take what could not be stored for stored",
    breaks: "Never dropped silently",
    file: "functions/store/consumer.ts",
    code: "isReceipt(each) ? outcomeOf.get(each) : each",
    instead: "isReceipt(each) ? outcomeOf.get(each) && undefined : each",
    tests: ["test/functions/store/consumer.int.test.ts", model],
  },
];
