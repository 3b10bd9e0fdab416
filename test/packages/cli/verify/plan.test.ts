import { describe, expect, it } from "vitest";
import { jmespathSearch } from "../../../../adapters/aws/jmespath-search.ts";
import { inlineLimitInBytes } from "../../../../domain/event/envelope.ts";
import { mapPayload } from "../../../../domain/event/mapping.ts";
import { nameOf, ownerOf, subjectOf } from "../../../../domain/event/subjects.ts";
import { applyEvent } from "../../../../domain/state/state.ts";
import { defaultMapping } from "../../../../lib/settings/default-mapping.ts";
import { isMark, newMark, planEvents } from "../../../../packages/cli/verify/plan.ts";

const mark = newMark();
const mapped = planEvents(mark).map((planned) => {
  const facts = mapPayload(defaultMapping[planned.kind], JSON.parse(planned.body), jmespathSearch);
  return { planned, facts };
});

describe("the events of a run of verify", () => {
  it("have ids that are UUIDs, each its own, and known by how they begin", () => {
    const ids = planEvents(mark).map(({ owner }) => owner.id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^5e57da7a-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(isMark(mark)).toBe(true);
    expect(isMark(`${mark}ff`)).toBe(false);
    expect(newMark()).not.toBe(mark);
  });

  it("mean to the pipeline what the run expects", () => {
    for (const { planned, facts } of mapped) {
      expect(facts.type).toBe(planned.type);
      expect(ownerOf(facts)).toEqual(planned.owner);
      expect(planned.subject.startsWith(nameOf(subjectOf(facts)))).toBe(true);
    }
  });

  it("leave nothing to ask the provider for, however often they come", () => {
    for (const { planned, facts } of mapped) {
      if (planned.kind === "endpoints") expect(facts.dataAvailable).toBe(false);
      else {
        const event = { ...facts, id: "id", kind: planned.kind, receivedAt: "2030-01-01T00:00:00.000Z" };
        const first = applyEvent(undefined, event, 1);
        expect(first).toMatchObject({ unconfirmed: false });
        expect(first?.connected).toBeUndefined();
        expect(applyEvent(first, event, 2)).toBeUndefined();
      }
    }
  });

  it("have one body of each kind that is too large for a message and an item", () => {
    const large = planEvents(mark).filter(({ body }) => Buffer.byteLength(body) > inlineLimitInBytes);
    expect(large.map(({ kind }) => kind)).toEqual(["users", "accounts", "endpoints", "company-accounts"]);
  });
});
