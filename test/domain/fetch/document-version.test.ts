import { describe, expect, it } from "vitest";
import { versionAfter } from "../../../domain/fetch/document-version.ts";

const first = versionAfter(undefined, { asOf: 10, by: ["m1"] }, "a");

describe("a document after a call", () => {
  it("is news where its content changed, and announced as of the call", () => {
    expect(first).toEqual({ asOf: 10, by: ["m1"], digest: "a", announced: 10, news: true });
    expect(versionAfter(first, { asOf: 20, by: ["m2"] }, "b")).toMatchObject({ announced: 20, news: true });
  });

  it("is no news where its content stayed, and keeps what announced it", () => {
    expect(versionAfter(first, { asOf: 20, by: ["m2"] }, "a")).toEqual({
      asOf: 20,
      by: ["m2"],
      digest: "a",
      announced: 10,
      news: false,
    });
  });

  it("is news where the provider has it no more, and again where it has the same once more", () => {
    const gone = versionAfter(first, { asOf: 20, by: [] }, undefined);
    expect(gone).toEqual({ asOf: 20, by: [], announced: 20, news: true });
    expect(versionAfter(gone, { asOf: 30, by: [] }, "a")).toMatchObject({ announced: 30, news: true });
  });

  it("is no news where the provider never had it", () => {
    expect(versionAfter(undefined, { asOf: 10, by: [] }, undefined)).toEqual({
      asOf: 10,
      by: [],
      news: false,
    });
  });

  it("is announced after what was announced before, also where its asOf fell", () => {
    expect(versionAfter(first, { asOf: 5, by: [] }, "b")).toMatchObject({ asOf: 5, announced: 11 });
  });
});
