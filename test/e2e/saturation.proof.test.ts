import { setTimeout as wait } from "node:timers/promises";
import { subscribersOf } from "@income-events/local-stack/outputs.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readAllDeadLetters, readSubscriber } from "../../proof/scenario/snapshot.ts";
import { recordTraffic } from "../../proof/scenario/traffic.ts";
import { eventually, waitUntilIdle } from "../support/eventually.ts";
import { type RunningProduct, startProduct } from "../support/running-product.ts";

/**
 * In production, a store's message is hidden for two minutes, so ten minutes without concurrency are five
 * failed receives. Here the timeout is seconds, and as many of them pass.
 */
const hiddenSeconds = 4;
const receivesInVain = 6;
/** Default concurrency of an account. */
const accountConcurrency = 1000;

describe("an account without free concurrency for ten minutes", () => {
  const traffic = recordTraffic();
  let product: RunningProduct;
  beforeAll(async () => {
    const changes = {
      functions: { store: { timeoutSeconds: hiddenSeconds / 2 } },
      queues: { visibilityMultiple: 2 },
    };
    const delivery = { firstRetryMs: 500, maxRetryMs: 2_000 };
    product = await startProduct(
      "compressed",
      changes,
      { delivery },
      { onAnswered: traffic.observe, maximumProcesses: 2 },
    );
  });
  afterAll(() => product?.[Symbol.asyncDispose]());

  it("loses no event and leaves no dead letter", async () => {
    const { stack, sandbox, access } = product.system;
    const stores = stack.functions.filter(({ logicalId }) => logicalId.includes("Store"));
    const throttles = () => stores.reduce((sum, { counts }) => sum + counts().throttles, 0);

    const releaseAllButOne = stack.occupyConcurrency(accountConcurrency - 1);
    await sandbox.createUsers(10);
    await eventually(() => expect(throttles()).toBeGreaterThan(0));
    const before = throttles();
    const releaseLast = stack.occupyConcurrency(1);
    await wait(receivesInVain * hiddenSeconds * 1_000);
    expect(throttles() - before).toBeGreaterThan(receivesInVain);
    releaseAllButOne();
    releaseLast();
    await waitUntilIdle(product.system);

    const [{ queueUrl = "" } = {}] = subscribersOf(stack);
    const messages = await readSubscriber(access, queueUrl);
    const accepted = traffic.accepted();
    expect(accepted.size).toBeGreaterThan(20);
    expect([...accepted].filter((id) => !messages.has(id))).toEqual([]);
    expect(await readAllDeadLetters(access, stack)).toEqual([]);
  });
});
