import { describe, expect, it } from "vitest";
import { createBacklog } from "../../../packages/console/tail.ts";

const happening = (subject: string) => ({ at: "2026-11-25T12:00:00.000Z", what: "received", subject });
const subjectsOf = ({ happenings }: ReturnType<ReturnType<typeof createBacklog>["since"]>) =>
  happenings.map(({ subject }) => subject);

describe("the backlog of a page", () => {
  it("is every event after its last, and nothing for a new page", () => {
    const backlog = createBacklog("one");
    const { at } = backlog.since(undefined);
    backlog.add(happening("a"));
    const a = backlog.since(at).at;
    for (const subject of ["b", "c"]) backlog.add(happening(subject));
    expect(subjectsOf(backlog.since(undefined))).toEqual([]);
    expect(subjectsOf(backlog.since(at))).toEqual(["a", "b", "c"]);
    expect(subjectsOf(backlog.since(a))).toEqual(["b", "c"]);
    const after = backlog.since(a);
    expect(after.isMissing).toBe(false);
    expect(subjectsOf(backlog.since(after.at))).toEqual([]);
  });

  it("says that more is missing than is kept", () => {
    const backlog = createBacklog("one");
    const { at } = backlog.since(undefined);
    for (let number = 0; number < 2_000; number += 1) backlog.add(happening(String(number)));
    expect(backlog.since(at)).toMatchObject({ isMissing: false });
    backlog.add(happening("one more"));
    expect(backlog.since(at)).toMatchObject({ isMissing: true });
    expect(subjectsOf(backlog.since(at))).toHaveLength(2_000);
  });

  it("says so too after a reader that stopped, and of an id that another console has given", () => {
    const backlog = createBacklog("one");
    backlog.add(happening("a"));
    const before = backlog.since(undefined).at;
    backlog.interrupt();
    expect(backlog.since(before)).toMatchObject({ isMissing: true, happenings: [] });
    const { at } = backlog.since(undefined);
    backlog.add(happening("b"));
    expect(backlog.since(at).isMissing).toBe(false);
    expect(subjectsOf(backlog.since(at))).toEqual(["b"]);
    for (const wrong of ["two-1", "one", "one-x", ""])
      expect(backlog.since(wrong)).toMatchObject({ isMissing: true });
  });
});
