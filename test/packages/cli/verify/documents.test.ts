import { describe, expect, it } from "vitest";
import type { ReadAnswer } from "../../../../adapters/aws/document-reads.ts";
import { AnnouncedDocuments, checkDocuments } from "../../../../packages/cli/verify/documents.ts";
import { chooseSubscribers, readPromised } from "../../../../packages/cli/verify/queues.ts";
import { exampleOf } from "../../../../scripts/documents/examples.ts";
import { shellWords } from "../../../support/command-line.ts";

const documentsUrl = "https://id.lambda-url.eu-central-1.on.aws/";
const example = readPromised(JSON.stringify(exampleOf("data.updated")));
if ("problem" in example || example.type !== "data.updated" || example.data.document === undefined)
  throw new Error("the example of data.updated announces no document");
const { document } = example.data;
const ok: ReadAnswer = { status: 200, sha256: document.sha256 };
const gone: ReadAnswer = { status: 404, sha256: "", problem: "urn:income-events:problem:not-found" };
const newest = `${document.href.split("?")[0]}`;
const notKept: ReadAnswer = { ...gone, newest };

/** @param answers by URL, the last one repeatedly */
async function check(
  messages: readonly object[],
  answers: Readonly<Record<string, readonly (ReadAnswer | Error)[]>>,
  seconds = 5,
) {
  const announced = new AnnouncedDocuments();
  for (const message of messages) announced.add(JSON.stringify(message));
  const asked: string[] = [];
  const readDocument = async (href: string) => {
    const [last = new Error("nothing was expected here")] = (answers[href] ?? []).slice(
      Math.min(asked.filter((each) => each === href).length, (answers[href]?.length ?? 1) - 1),
    );
    asked.push(href);
    if (last instanceof Error) throw last;
    return last;
  };
  const { check: made, counts } = await checkDocuments(announced, { readDocument, documentsUrl, seconds });
  return { passed: made.passed, seen: made.seen, asked, ...counts };
}

describe("the documents that messages announced", () => {
  it("are read once each, however often a message comes", async () => {
    expect(await check([example, example], { [document.href]: [ok] })).toEqual({
      passed: true,
      seen: "1 of 1 read",
      asked: [document.href],
      documentsRead: 1,
      documentsMissing: 0,
    });
  });

  it("are none without a data message, and the check reports it", async () => {
    const messages = [exampleOf("user.created"), { type: "data.updated" }];
    expect(await check(messages, {})).toMatchObject({ passed: true, seen: "0 of 0 read" });
  });

  it("are read again if the stage is busy or the connection breaks", async () => {
    const busy: ReadAnswer = { status: 503, sha256: "" };
    const answers = { [document.href]: [busy, new Error("reset"), ok] };
    expect(await check([example], answers)).toMatchObject({ passed: true, documentsRead: 1 });
  });

  it.each<[string, ReadAnswer, string]>([
    ["has other bytes", { ...ok, sha256: "0".repeat(64) }, "other bytes than the message names"],
    ["is refused", { ...gone, status: 403 }, "answered 403. To run this, you need lambda:InvokeFunctionUrl"],
    ["is not there", gone, "answered 404, though no newer message replaces it"],
  ])("fail if one %s, with the remedy", async (_, answer, seen) => {
    const result = await check([example], { [document.href]: [answer] });
    expect(result).toMatchObject({ passed: false, documentsRead: 0, documentsMissing: 1 });
    expect(result.seen).toContain(`0 of 1 read; ${example.subject}: ${seen}`);
  });

  it("name it with each argument as one word of a shell", async () => {
    const subject = "account/$(touch FILE)/income;touch FILE";
    const { seen } = await check([{ ...example, subject }], { [document.href]: [gone] });
    expect(shellWords(seen.slice(seen.indexOf("npx ")))).toEqual([
      "income-events",
      "fetch",
      "account",
      "$(touch FILE)",
      "income;touch FILE",
    ]);
  });

  it("may be replaced by what is as new as the message at least", async () => {
    const observedAt = Math.floor(Date.parse(document.observedAt) / 1000) * 1000;
    const after = { [document.href]: [notKept], [newest]: [{ ...ok, observedAt }] };
    expect(await check([example], after)).toMatchObject({
      passed: true,
      seen: "0 of 1 read; 1 replaced by newer ones",
    });
    const before = { [document.href]: [notKept], [newest]: [{ ...ok, observedAt: observedAt - 1000 }] };
    expect(await check([example], before)).toMatchObject({
      passed: false,
      seen: expect.stringContaining("the newest version is older than the message"),
    });
  });

  it("may be missing if a later message replaces them, or reports an erasure", async () => {
    const later = {
      ...example,
      id: "later",
      sequence: example.sequence.replace(/.$/, "9"),
      data: { ...example.data, document: undefined },
    };
    const answers = { [document.href]: [gone] };
    expect(later.sequence > example.sequence).toBe(true);
    expect(await check([later, example], answers)).toMatchObject({ passed: true, documentsMissing: 0 });
    const [kind, id] = example.subject.split("/");
    const erased = { ...exampleOf("account.erased"), subject: `${kind}/${id}` };
    expect(await check([example, erased], answers)).toMatchObject({ passed: true, documentsMissing: 0 });
  });

  it("are not requested with a signature if a message names another address than the stage's", async () => {
    const href = document.href.replace(
      documentsUrl,
      "https://id.lambda-url.eu-central-1.on.aws.evil.example/",
    );
    const elsewhere = { ...example, data: { ...example.data, document: { ...document, href } } };
    expect(await check([elsewhere], { [href]: [ok] })).toMatchObject({
      passed: false,
      asked: [],
      seen: expect.stringContaining("nothing is signed for that"),
    });
  });

  it("are as many as there is time for, and the rest is counted", async () => {
    const result = await check([example], { [document.href]: [ok] }, 0);
    expect(result).toMatchObject({ asked: [], seen: "0 of 1 read; 1 not asked for within 0 s" });
  });
});

const queue = (name: string, types?: readonly string[]) => ({
  name,
  queueUrl: `https://sqs.example/${name}`,
  ...(types && { types }),
});
const chosen = (...of: Parameters<typeof chooseSubscribers>) => {
  const { read, left } = chooseSubscribers(...of);
  return { read: read.map(({ name, others }) => `${name}: ${others}`), left };
};

describe("whose queues a run of verify reads", () => {
  const three = [queue("smoke"), queue("billing"), queue("risk")];

  it("is that of the subscriber smoke alone, which it empties", () => {
    const expected = { read: ["smoke: delete"], left: ["billing", "risk"] };
    expect(chosen(three, [], false)).toEqual(expected);
    expect(chosen(three, [], true)).toEqual(expected);
  });

  it("is that of others if they are named, whose messages it releases", () => {
    expect(chosen(three, ["risk"], false)).toEqual({ read: ["risk: release"], left: ["smoke", "billing"] });
  });

  it("is every one on this machine, if none is named smoke", () => {
    expect(chosen(three.slice(1), [], true)).toEqual({
      read: ["billing: release", "risk: release"],
      left: [],
    });
  });

  it("is none in AWS, if none is named, with the remedy", () => {
    expect(() => chosen(three.slice(1), [], false)).toThrow(/"name": "smoke"[\s\S]*--subscriber billing/);
    expect(() => chosen([], [], true)).toThrow('"name": "smoke"');
  });

  it("is none whose filters take nothing of the run", () => {
    const deaf = [queue("smoke", ["data.updated", "*.confirmed"])];
    expect(() => chosen(deaf, [], false)).toThrow("smoke: no filter takes any of user.created");
  });
});
