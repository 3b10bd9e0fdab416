import { createHash } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type AnnouncedDocument, documentsIn, readDocuments } from "../../proof/scenario/read-documents.ts";

const text = '{"data":[]}';
const sha256 = createHash("sha256").update(text).digest("hex");
const problem = (name: string) => ({ status: 404, text: JSON.stringify({ type: `urn:problem:${name}` }) });
const message = (sequence: string, document?: object, subject = "account/a/income") =>
  JSON.stringify({ type: "data.updated", subject, sequence, data: { endpoint: "income", document } });

type Answered = { readonly status: number; readonly text: string };

const href = "http://127.0.0.1/v1/accounts/a/documents/income?version=1";

const reader = {
  name: "reader",
  region: "eu-central-1",
  credentials: { accessKeyId: "LOCALREADER000000000", secretAccessKey: "secret" },
};

/** Reads a document with these answers in order. */
async function readThe(
  answers: readonly Answered[],
  announced: Partial<AnnouncedDocument> = {},
  isErased = false,
) {
  const left = [...answers];
  vi.stubGlobal("fetch", async () => {
    const answer = left.shift();
    return new Response(answer?.text, { status: answer?.status ?? 500 });
  });
  const document = { subject: "account/a/income", href, sha256, isNewest: true, ...announced };
  const { read, missing } = await readDocuments([document], reader, () => isErased);
  return { read, missing: missing.map((reason) => reason.replace(/^.*by reader: /, "")) };
}

describe("the scenario reads each document that was announced to a subscriber", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("takes each version once, and knows which no later message replaces", () => {
    const bodies = [
      message("1", { href: "first", sha256 }),
      message("2", { href: "second", sha256 }),
      message("2", { href: "second", sha256 }),
      message("7", { href: "gone", sha256 }, "account/b/income"),
      message("9", undefined, "account/b/income"),
      JSON.stringify({ type: "account.connected", subject: "account/a" }),
    ];
    expect(documentsIn(bodies).map(({ href, isNewest }) => [href, isNewest])).toEqual([
      ["first", false],
      ["second", true],
      ["gone", false],
    ]);
  });

  it.each([
    ["other bytes", [{ status: 200, text: "{}" }], "other bytes"],
    ["a refusal", [{ status: 403, text: "{}" }], "answered 403"],
    ["nothing for the newest version", [problem("not-found")], "gone"],
    ["a newer version, which no message announced", [problem("version-not-kept")], "replaced"],
  ])("misses a document that is answered with %s", async (_, answers, reason) => {
    expect(await readThe(answers)).toEqual({ read: 0, missing: [reason] });
  });

  it("accepts a missing version that a later message replaced, or whose person was erased", async () => {
    const nothing = { read: 0, missing: [] };
    expect(await readThe([problem("version-not-kept")], { isNewest: false })).toEqual(nothing);
    expect(await readThe([problem("not-found")], { isNewest: false })).toEqual(nothing);
    expect(await readThe([problem("not-found")], {}, true)).toEqual(nothing);
  });
});
