import fc from "fast-check";
import { expect, it } from "vitest";
import { writeChange } from "../../../adapters/aws/relay-invoker.ts";
import { readChange } from "../../../adapters/streams/change-stream.ts";
import type { Change } from "../../../domain/state/change.ts";
import { applyEvent } from "../../../domain/state/state.ts";
import { documentRead, eventChange, eventOf, minute } from "../../domain/samples.ts";

const event = fc
  .record({
    type: fc.constantFrom("account.connected", "account.updated", "account.deleted", "endpoint.updated"),
    time: fc.option(fc.nat(9), { nil: undefined }),
    userId: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
    endpoint: fc.string({ minLength: 1 }),
  })
  .map(({ type, time, userId, endpoint }) =>
    eventOf(type, {
      ...(time !== undefined && { time: minute(time) }),
      ...(userId !== undefined && { userId }),
      ...(type === "endpoint.updated" && { endpoint }),
    }),
  );

/** A change of each kind, including a second write of the same item. */
const change = fc.tuple(event, event, fc.integer({ min: 1, max: 9 })).chain(([one, other, receipts]) => {
  const state = applyEvent(undefined, one, 1);
  const name = { endpoint: "income", range: { start: "2026-01-01", end: "2026-01-31" } };
  const first = documentRead(undefined, "digest", { asOf: 5, name, by: ["m1"], correlationId: one.id });
  const changes: Change[] = [
    eventChange(one, receipts),
    eventChange(one, receipts, 0),
    { type: "document", before: undefined, after: first },
    { type: "document", before: first, after: documentRead(first, undefined, { asOf: 9, name }) },
    { type: "document", before: first, after: first, storage: { codec: "gzip", object: "data/1" } },
    {
      type: "document",
      before: first,
      after: first,
      storage: { codec: "gzip", content: Buffer.from([31, 139]) },
    },
  ];
  for (const before of [undefined, state]) {
    const after = before === undefined ? state : applyEvent(before, other, 1);
    if (after !== undefined) changes.push({ type: "state", before, after });
  }
  return fc.constantFrom(...changes);
});

it("a change as a record of the stream is read as it was written", () => {
  fc.assert(
    fc.property(change, (written) => {
      const record = writeChange(written, "1");
      expect(record.dynamodb?.SequenceNumber).toBe("1");
      // Through JSON, as in an invocation.
      expect(readChange(JSON.parse(JSON.stringify(record)))).toEqual(written);
    }),
  );
});
