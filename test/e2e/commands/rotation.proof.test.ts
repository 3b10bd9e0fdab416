import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { webhookKinds } from "@income-events/sandbox/webhooks.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { valueOfKind } from "../../../domain/core/webhook-secret.ts";
import { type OperatedStage, startOperatedStage, webhookSecretOf } from "../../support/operated-stage.ts";

describe("a rotation of the webhook secret, by the command line against the running stack", () => {
  let operated: OperatedStage;
  let system: System;
  beforeAll(async () => {
    const changes = { webhooks: { secretCacheSeconds: 2 } };
    operated = await startOperatedStage("rotation", changes, { delivery: { firstRetryMs: 200 } });
    ({ system } = operated);
  });
  afterAll(() => operated?.[Symbol.asyncDispose]());

  const secretArn = () => outputOf(system.stack, "WebhookSecretArn");
  const registered = () =>
    webhookKinds.map((kind) => system.sandbox.webhook(kind)?.headers["x-webhook-secret"]);
  const valuesOf = (secret: string) => webhookKinds.map((kind) => valueOfKind(secret, kind));
  /**
   * Delivers one event of a kind once.
   * @returns the receiver's status
   */
  const deliver = async (secret: string, kind: (typeof webhookKinds)[number] = "accounts") => {
    const options = { headers: { "x-webhook-secret": valueOfKind(secret, kind) }, maxAttempts: 1 };
    const [id] = system.sandbox.fireEvent(kind, { event: "connect_account" }, options);
    await system.sandbox.waitUntilIdle();
    return system.sandbox.deliveries().find((delivery) => delivery.id === id)?.lastStatus;
  };

  const refused = () => system.stack.statusCounts().get(401) ?? 0;
  /**
   * Sends events of every kind while work is in progress.
   * @returns its result, and the outcome of the events
   */
  async function whileEventsFlow<T>(work: Promise<T>) {
    const { sandbox } = system;
    const [refusedBefore, after] = [refused(), sandbox.deliveries().at(-1)?.id ?? "0"];
    const fire = async (number: number) => {
      for (const kind of webhookKinds) sandbox.fireEvent(kind, { number });
      await sandbox.waitUntilIdle();
    };
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    for (let number = 1; !isDone; number += 1) await fire(number);
    const result = await done;
    // Once more, with the current registration.
    await fire(0);
    return { result, deliveries: sandbox.deliveries({ after }), refused: refused() - refusedBefore };
  }

  let old = "";

  it("refuses no delivery, and ends with the new value registered", async () => {
    old = await webhookSecretOf(system.stack);
    const rotation = operated.run(["secret", "rotate", "--json"]);
    const { result, deliveries, refused: refusedDeliveries } = await whileEventsFlow(rotation);

    expect(refusedDeliveries).toBe(0);
    expect(deliveries.length).toBeGreaterThan(8);
    expect(new Set(deliveries.map(({ status }) => status))).toEqual(new Set(["delivered"]));
    expect(result).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("Waiting until all receivers have loaded it: 4 s"),
    });

    const value = await webhookSecretOf(system.stack);
    expect(value).not.toBe(old);
    expect(registered()).toEqual(valuesOf(value));
    for (const secret of [old, value]) expect(result.stdout + result.stderr).not.toContain(secret);
    const { done, previousUntil } = Object(result.json());
    expect(done).toBe("rotated");
    // The provider's three days of retries, plus two periods of the schedule.
    const hoursLeft = (Date.parse(previousUntil) - Date.now()) / 3_600_000;
    expect(hoursLeft).toBeGreaterThan(119);
    expect(hoursLeft).toBeLessThanOrEqual(120);
    expect(await deliver(old)).toBe(202);
  });

  it("refuses the old value once it expires, and creates no further value before", async () => {
    const value = await webhookSecretOf(system.stack);
    const again = await operated.run(["secret", "rotate", "--json"]);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("A rotation is in progress.") });
    expect(again.json()).toMatchObject({ done: "continued" });
    expect(await webhookSecretOf(system.stack)).toBe(value);

    expect(await deliver(old)).toBe(202);
    const ended = { current: value, previous: old, previousUntil: new Date().toISOString() };
    await system.stack.setSecret(secretArn(), JSON.stringify(ended));
    await expect.poll(() => deliver(old)).toBe(401);
    expect(await deliver(value)).toBe(202);
  });

  it("revokes a value that has leaked, after it was confirmed", async () => {
    const leaked = await webhookSecretOf(system.stack);
    const unconfirmed = await operated.run(["secret", "rotate", "--revoke-now"]);
    expect(unconfirmed).toMatchObject({ code: 2, stderr: expect.stringContaining("reconciliation finds") });
    expect(await webhookSecretOf(system.stack)).toBe(leaked);

    const revoked = await operated.run(["secret", "rotate", "--revoke-now", "--yes", "--json"]);
    expect(revoked.code).toBe(0);
    expect(revoked.json()).toEqual({ stage: "rotation", done: "revoked" });
    const value = await webhookSecretOf(system.stack);
    expect(registered()).toEqual(valuesOf(value));
    await expect.poll(() => deliver(leaked)).toBe(401);
    expect(await deliver(value)).toBe(202);
  });
});
