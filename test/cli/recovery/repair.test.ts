import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageOfDataSet, messageOfState } from "../../../domain/message/message.ts";
import { retellData } from "../../../domain/state/replay-message.ts";
import { history, play } from "../support/history.ts";
import { SmallWorld, type Truth } from "../support/pipeline-simulation.ts";

const isLive = (truth: Truth | undefined) => truth?.connected === true && !truth.deleted;

function factsOf(world: SmallWorld) {
  return {
    states: [...world.states]
      // What was last known of a deleted one depends on the order.
      .map(([name, { connected, deleted, unconfirmed, userId }]) => ({
        name,
        connected: deleted || connected,
        deleted,
        unconfirmed,
        userId,
      }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    // What a start alone led to is there where the account is still connected: else there is nothing to start.
    dataSets: [...world.dataSets]
      .filter(([name, { subject }]) => world.contents.has(name) || isLive(world.truths.get(subject.id)))
      .map(([name, { content, wanted, done }]) => ({ name, content, isOutstanding: wanted > done }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    links: [...world.links].toSorted(),
    events: [...new Set(world.messages.map(({ id }) => id).filter((id) => world.events.has(id)))].toSorted(),
  };
}

/** The highest `sequence` of each subject tells what is known; what is there of data was told by its own name. */
function expectAllTold(world: SmallWorld): void {
  const ids = new Set(world.messages.map(({ id }) => id));
  expect([...world.events.keys()].filter((id) => !ids.has(id))).toEqual([]);
  for (const state of world.states.values()) {
    const subject = `${state.subject.kind}/${state.subject.id}`;
    const told = world.messages
      .filter((message) => message.subject === subject)
      .reduce((one, other) => (other.sequence >= one.sequence ? other : one));
    const { deleted, connected } = state;
    expect(told.data).toMatchObject({
      deleted,
      unconfirmed: false,
      ...(connected !== undefined && { connected }),
    });
    if (state.latest.cause === "answer") expect(ids).toContain(messageOfState(state, "urn:test")?.id);
  }
  for (const dataSet of world.dataSets.values()) {
    const data = retellData(dataSet);
    const message = data && messageOfDataSet(data, "urn:test");
    if (message !== undefined) expect(ids).toContain(message.id);
  }
}

describe("repair", () => {
  it("gives what it would have been without the loss, whichever records of the stream got lost", async () => {
    let lost = 0;
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.infiniteStream(fc.boolean()),
        fc.record({ losses: fc.infiniteStream(fc.boolean()), lossless: fc.nat(40) }),
        fc.nat(4),
        async (steps, settles, { losses, lossless }, late) => {
          const complete = new SmallWorld(() => false);
          play(complete, steps, () => true);
          let records = 0;
          // From some record on, any.
          const world = new SmallWorld(() => records++ >= lossless && losses.next().value === true);
          const early = steps.slice(0, Math.max(1, steps.length - late));
          play(world, early, () => settles.next().value === true);
          lost += world.lost;
          // The others happen while it is repaired.
          for (const [index, step] of steps.slice(early.length).entries()) {
            world.meanwhile.push(() => play(world, [step], () => true, early.length + index));
          }
          await world.repair();
          for (const happens of world.meanwhile) happens();
          expect(factsOf(world)).toEqual(factsOf(complete));
          expectAllTold(world);
          for (const [name, { connected, deleted }] of world.states) {
            if (connected === true && !deleted) {
              const isRead = [...world.dataSets].some(
                ([key, { done }]) => key.startsWith(`${name}/`) && done > 0,
              );
              expect(world.started.has(name) || isRead).toBe(true);
            }
          }
        },
      ),
      { numRuns: 1000 },
    );
    expect(lost).toBeGreaterThan(1000);
  });
});
