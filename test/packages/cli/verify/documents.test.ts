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

const observedAt = Math.floor(Date.parse(document.observedAt) / 1000) * 1000;
const later = {
  ...example,
  id: "later",
  sequence: example.sequence.replace(/.$/, "9"),
  data: { ...example.data, document: undefined },
};
const [kind, id] = example.subject.split("/");
const erased = { ...exampleOf("account.erased"), subject: `${kind}/${id}` };
const elsewhere = document.href.replace(
  documentsUrl,
  "https://id.lambda-url.eu-central-1.on.aws.evil.example/",
);
const missing = (seen: string) => ({
  ...{ passed: false, documentsRead: 0, documentsMissing: 1 },
  seen: expect.stringContaining(`0 of 1 read; ${example.subject}: ${seen}`),
});

describe("the documents that messages announced", () => {
  it.each<[string, readonly object[], Parameters<typeof check>[1], object]>([
    [
      "are read once each, however often a message comes",
      [example, example],
      { [document.href]: [ok] },
      { passed: true, seen: "1 of 1 read", asked: [document.href], documentsRead: 1, documentsMissing: 0 },
    ],
    [
      "are none without a data message, and the check reports it",
      [exampleOf("user.created"), { type: "data.updated" }],
      {},
      { passed: true, seen: "0 of 0 read" },
    ],
    [
      "are read again if the stage is busy or the connection breaks",
      [example],
      { [document.href]: [{ status: 503, sha256: "" }, new Error("reset"), ok] },
      { passed: true, documentsRead: 1 },
    ],
    [
      "fail if one has other bytes",
      [example],
      { [document.href]: [{ ...ok, sha256: "0".repeat(64) }] },
      missing("other bytes than the message names"),
    ],
    [
      "fail if one is refused, with the remedy",
      [example],
      { [document.href]: [{ ...gone, status: 403 }] },
      missing("answered 403. To run this, you need lambda:InvokeFunctionUrl"),
    ],
    [
      "fail if one is not there",
      [example],
      { [document.href]: [gone] },
      missing("answered 404, though no newer message replaces it"),
    ],
    [
      "may be replaced by what is as new as the message at least",
      [example],
      { [document.href]: [notKept], [newest]: [{ ...ok, observedAt }] },
      { passed: true, seen: "0 of 1 read; 1 replaced by newer ones" },
    ],
    [
      "fail if one is replaced by an older one",
      [example],
      { [document.href]: [notKept], [newest]: [{ ...ok, observedAt: observedAt - 1000 }] },
      missing("answered 404, and the newest version is older than the message"),
    ],
    [
      "may be missing if a later message replaces them",
      [later, example],
      { [document.href]: [gone] },
      { passed: true, documentsMissing: 0 },
    ],
    [
      "may be missing if a message reports their erasure",
      [example, erased],
      { [document.href]: [gone] },
      { passed: true, documentsMissing: 0 },
    ],
    [
      "are not requested with a signature if a message names another address than the stage's",
      [{ ...example, data: { ...example.data, document: { ...document, href: elsewhere } } }],
      { [elsewhere]: [ok] },
      { passed: false, asked: [], seen: expect.stringContaining("nothing is signed for that") },
    ],
  ])("%s", async (_, messages, answers, expected) => {
    expect(await check(messages, answers)).toMatchObject(expected);
  });

  it("name it with each argument as one word of a shell", async () => {
    const subject = "account/$(touch FILE)/income;touch FILE";
    const { seen } = await check([{ ...example, subject }], { [document.href]: [gone] });
    const words = ["income-events", "fetch", "account", "$(touch FILE)", "income;touch FILE"];
    expect(shellWords(seen.slice(seen.indexOf("npx ")))).toEqual(words);
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
