import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageOfDocument, messageOfState } from "../../../../domain/message/message.ts";
import { repairScope } from "../../../../packages/cli/recovery/repair.ts";
import { history, play } from "../support/history.ts";
import { PipelineSimulation, type Truth } from "../support/pipeline-simulation.ts";

const isLive = (truth: Truth | undefined) => truth?.connected === true && !truth.deleted;

function factsOf(simulation: PipelineSimulation) {
  return {
    states: [...simulation.states]
      // The last state of a deleted account depends on the order.
      .map(([name, { connected, deleted, unconfirmed, userId }]) => ({
        name,
        connected: deleted || connected,
        deleted,
        unconfirmed,
        userId,
      }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    // Data of a start exists only if the account is still connected.
    documents: [...simulation.documents]
      .filter(
        ([name, { subject }]) => simulation.contents.has(name) || isLive(simulation.truths.get(subject.id)),
      )
      .map(([name, { digest }]) => ({ name, digest }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    links: [...simulation.links].toSorted(),
    events: [
      ...new Set(simulation.messages.map(({ id }) => id).filter((id) => simulation.events.has(id))),
    ].toSorted(),
  };
}

/** The highest `sequence` of each subject announces the stored state; existing data was announced by name. */
function expectAllAnnounced(simulation: PipelineSimulation): void {
  const ids = new Set(simulation.messages.map(({ id }) => id));
  expect([...simulation.events.keys()].filter((id) => !ids.has(id))).toEqual([]);
  for (const state of simulation.states.values()) {
    const subject = `${state.subject.kind}/${state.subject.id}`;
    const reported = simulation.messages
      .filter((message) => message.subject === subject)
      .reduce((one, other) => (other.sequence >= one.sequence ? other : one));
    const { deleted, connected } = state;
    expect(reported.data).toMatchObject({
      deleted,
      unconfirmed: false,
      ...(connected !== undefined && { connected }),
    });
    if (state.latest.cause === "answer") expect(ids).toContain(messageOfState(state, "urn:test")?.id);
  }
  for (const document of simulation.documents.values()) {
    if (document.announced !== undefined) expect(ids).toContain(messageOfDocument(document, origin).id);
  }
}

const origin = { source: "urn:test", documentsUrl: "https://reads.example/" };

describe("repair", () => {
  it("restores the state without the loss, whichever records of the stream were lost", async () => {
    let lost = 0;
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.infiniteStream(fc.boolean()),
        fc.record({ losses: fc.infiniteStream(fc.boolean()), lossless: fc.nat(40) }),
        fc.nat(4),
        async (steps, waits, { losses, lossless }, late) => {
          const complete = new PipelineSimulation(() => false);
          play(complete, steps, () => true);
          let records = 0;
          // From any record on.
          const simulation = new PipelineSimulation(
            () => records++ >= lossless && losses.next().value === true,
          );
          const early = steps.slice(0, Math.max(1, steps.length - late));
          play(simulation, early, () => waits.next().value === true);
          lost += simulation.lost;
          // The other steps happen during the repair.
          for (const [index, step] of steps.slice(early.length).entries()) {
            simulation.meanwhile.push(() => play(simulation, [step], () => true, early.length + index));
          }
          await simulation.repair();
          for (const happens of simulation.meanwhile) happens();
          expect(factsOf(simulation)).toEqual(factsOf(complete));
          expectAllAnnounced(simulation);
          for (const [name, { connected, deleted }] of simulation.states) {
            if (connected === true && !deleted) {
              const isRead = [...simulation.documents.keys()].some((key) => key.startsWith(`${name}/`));
              expect(simulation.started.has(name) || isRead).toBe(true);
            }
          }
        },
      ),
      { numRuns: 1000 },
    );
    expect(lost).toBeGreaterThan(1000);
  });
});

const now = new Date("2026-03-01T12:00:00.000Z");

describe("what a repair is about", () => {
  it.each([
    [{ all: true }, { subject: undefined, period: {} }],
    [{ since: "36h" }, { subject: undefined, period: { since: "2026-02-28T00:00:00.000Z" } }],
    [{ until: "2026-02-01" }, { subject: undefined, period: { until: "2026-02-01T00:00:00.000Z" } }],
    [{ user: "u" }, { subject: { kind: "user", id: "u" }, period: {} }],
    [{ failures: true }, undefined],
    [
      { failures: true, account: "a" },
      { subject: { kind: "account", id: "a" }, period: {} },
    ],
  ])("%o", (flags, scope) => {
    expect(repairScope(flags, now)).toEqual(scope);
  });

  it.each([
    [{}, "Choose what to repair: --failures"],
    [{ all: true, since: "1h" }, "--all is everything"],
    [{ all: true, user: "u" }, "--all is everything"],
    [{ since: "yesterday" }, "--since"],
    [{ user: "1", account: "2" }, "exclude each other"],
  ])("is refused for %o", (flags, reason) => {
    expect(() => repairScope(flags, now)).toThrow(reason);
  });
});
