import fc from "fast-check";
import type { EventType } from "../../../../domain/event/events.ts";
import { eventOf, minute } from "../../../domain/samples.ts";
import type { PipelineSimulation, Truth } from "./pipeline-simulation.ts";

type Step = {
  readonly account: number;
  readonly what: "create" | "connect" | "disconnect" | "update" | "delete" | "data";
  readonly isTimed: boolean;
  readonly hasUser: boolean;
  readonly copies: number;
};

const step: fc.Arbitrary<Step> = fc.record({
  account: fc.nat(1),
  what: fc.constantFrom(
    "create",
    "connect",
    "disconnect",
    "update",
    "data",
    "connect",
    "disconnect",
    "delete",
  ),
  isTimed: fc.boolean(),
  hasUser: fc.boolean(),
  copies: fc.integer({ min: 1, max: 3 }),
});
/** Steps of two accounts, some reported several times. */
export const history = fc.array(step, { minLength: 1, maxLength: 14 });

const types: Readonly<Record<Step["what"], EventType>> = {
  create: "account.created",
  connect: "account.connected",
  disconnect: "account.disconnected",
  update: "account.updated",
  delete: "account.deleted",
  data: "endpoint.updated",
};

/**
 * Applies each step to the provider's state, and ignores steps after a deletion.
 * @param begin number of earlier steps: each has its own time
 */
export function play(
  simulation: PipelineSimulation,
  steps: readonly Step[],
  waits: () => boolean,
  begin = 0,
): void {
  for (const [place, { account, what, isTimed, hasUser, copies }] of steps.entries()) {
    const index = begin + place;
    const accountId = `account-${account}`;
    const truth: Truth = simulation.truths.get(accountId) ?? { connected: false, deleted: false };
    if (truth.deleted) continue;
    if (what === "connect" || what === "disconnect") truth.connected = what === "connect";
    if (what === "delete") truth.deleted = true;
    simulation.truths.set(accountId, truth);
    if (what === "data") simulation.contents.set(`account/${accountId}/income`, `content-${index}`);
    for (let copy = 0; copy < copies; copy += 1) {
      // The time of receipt is not part of an event's identity: an event without its own time repeats.
      simulation.receive({
        ...eventOf(types[what], {
          accountId,
          ...(hasUser && { userId: `user-${account}` }),
          ...(isTimed && { time: minute(index) }),
          ...(what === "update" && { connected: truth.connected }),
          ...(what === "data" && { endpoint: "income" }),
        }),
        receivedAt: minute(index),
      });
      if (waits()) simulation.waitUntilIdle();
    }
  }
  simulation.waitUntilIdle();
}
