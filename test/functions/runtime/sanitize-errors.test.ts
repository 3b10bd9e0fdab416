import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { permanent } from "../../../domain/core/failures.ts";
import { sanitizeErrors } from "../../../functions/runtime/log.ts";

async function thrownBy(error: unknown): Promise<unknown> {
  try {
    await sanitizeErrors(() => Promise.reject(error))();
  } catch (thrown) {
    return thrown;
  }
  throw new Error("nothing was thrown");
}

describe("a handler with its own reasons", () => {
  it("has the handler's input and output", async () => {
    const sum = sanitizeErrors(async (one: number, other: number) => one + other);
    expect(await sum(2, 3)).toBe(5);
  });

  it("throws our own failures as they are", async () => {
    const failure = permanent("the webhook secret is empty");
    expect(await thrownBy(failure)).toBe(failure);
  });

  it("reports only the name of any other error: neither message, nor stack, nor properties", async () => {
    const error = new ConditionalCheckFailedException({
      message: "canary",
      Item: { name: { S: "canary" } },
      $metadata: {},
    });
    for (const each of [error, new TypeError("canary"), "canary", { canary: 1 }]) {
      const thrown = Object(await thrownBy(each));
      expect(thrown.message).toBe(each instanceof Error ? each.name : "unknown");
      expect(JSON.stringify([thrown, thrown.stack, thrown.cause])).not.toContain("canary");
    }
  });
});
