import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQSClient } from "@aws-sdk/client-sqs";
import { holdsState } from "@income-events/local-stack/engines/kept.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { queueDepth } from "../../adapters/sqs/queue-metrics.ts";
import { readItems } from "../../proof/scenario/snapshot.ts";
import { waitUntilIdle } from "../support/eventually.ts";
import { startProduct } from "../support/running-product.ts";

/** Everything that a start could lose or repeat. */
async function stateOf({ access, stack }: System) {
  const sqs = new SQSClient(access);
  const items = await readItems(access, outputOf(stack, "TableName"));
  const { waiting } = await queueDepth(sqs, outputOf(stack, "SubscriberEverythingQueueUrl"));
  sqs.destroy();
  const known = items.filter(({ pk }) => /^(USER|ACCOUNT)#/.test(String(pk)));
  return {
    known: known.toSorted((one, other) => keyOf(one).localeCompare(keyOf(other))),
    waiting,
    secret: stack.secretValue(outputOf(stack, "WebhookSecretArn")),
  };
}

function keyOf({ pk, sk }: Record<string, unknown>): string {
  return `${String(pk)} ${String(sk)}`;
}

describe("a system's state", () => {
  let keep: string;
  beforeAll(async () => {
    keep = await mkdtemp(join(tmpdir(), "keep-"));
  });
  afterAll(() => rm(keep, { recursive: true, force: true }));

  it("persists between starts in a directory, and is empty without one", async () => {
    expect(holdsState(keep)).toBe(false);
    let before: Awaited<ReturnType<typeof stateOf>>;
    let user: string;
    {
      await using product = await startProduct("keep", {}, {}, { keep });
      [user = ""] = (await product.system.sandbox.createUsers(1)).users;
      await waitUntilIdle(product.system);
      before = await stateOf(product.system);
      expect(before.known.length).toBeGreaterThan(5);
      expect(before.waiting).toBeGreaterThan(3);
    }
    expect(holdsState(keep)).toBe(true);
    {
      await using product = await startProduct("keep", {}, {}, { keep });
      const { system } = product;
      await waitUntilIdle(system);
      expect(await stateOf(system)).toEqual(before);
      // After the restart the provider knows its users, the pipeline its token, and new events are processed.
      system.sandbox.fireEvent("users", { action: "update_user", data: { id: user, name: "another" } });
      await waitUntilIdle(system);
      const { known, waiting } = await stateOf(system);
      expect(known.length).toBe(before.known.length + 1);
      expect(waiting).toBe(before.waiting + 1);
    }
    await using anew = await startProduct("keep");
    await waitUntilIdle(anew.system);
    expect(await stateOf(anew.system)).toMatchObject({ known: [], waiting: 0 });
    const other = startProduct("other", {}, {}, { keep });
    await expect(other).rejects.toThrow(
      /keeps the state of the stack income-events-keep in .*: choose another/,
    );
  });
});
