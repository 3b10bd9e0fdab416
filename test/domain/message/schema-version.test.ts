import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FailureError } from "../../../domain/core/failures.ts";
import { checkSchemaVersion } from "../../../domain/core/parse.ts";

const written = fc.integer({ min: 1, max: 1_000 });

describe("a schema version", () => {
  it("of this release, an earlier one or the next is read", () => {
    fc.assert(
      fc.property(written, fc.nat(), (ours, back) => {
        const theirs = ours + 1 - (back % (ours + 1));
        expect(() => checkSchemaVersion(theirs, ours)).not.toThrow();
      }),
    );
  });

  it("of a release after the next is a retryable failure", () => {
    fc.assert(
      fc.property(written, fc.integer({ min: 2, max: 1_000 }), (ours, ahead) => {
        expect(failureOf(ours + ahead, ours)).toMatchObject({ type: "retryable", waitsFor: "release" });
      }),
    );
  });

  it("that is not an integer from 1 is a permanent failure", () => {
    for (const version of [0, -1, 1.5, Number.NaN, "1", null, undefined, [1], {}]) {
      expect(failureOf(version, 1)).toMatchObject({ type: "permanent" });
    }
  });
});

function failureOf(version: unknown, ours: number): unknown {
  try {
    checkSchemaVersion(version, ours);
    return undefined;
  } catch (error) {
    return error instanceof FailureError ? error.failure : error;
  }
}
