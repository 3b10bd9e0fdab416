import { marshall } from "@aws-sdk/util-dynamodb";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  documentKey,
  itemVersion,
  type Key,
  linkKey,
  readItem,
  stateKey,
} from "../../../adapters/dynamodb/keys.ts";
import { readChange } from "../../../adapters/streams/change-stream.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { type DataName, nameOfData } from "../../../domain/fetch/document.ts";
import { keptPages } from "../../../functions/fetch/read-pages.ts";
import { hostileText } from "../../domain/samples.ts";

const subject: fc.Arbitrary<Subject> = fc.record({
  kind: fc.constantFrom("user", "account", "company-account"),
  id: hostileText,
});
const [day1, day2] = ["2026-01-01", "2026-01-31"];
const day = fc.constantFrom(day1, day2);
const data: fc.Arbitrary<DataName> = fc.oneof(
  fc.record({ endpoint: hostileText }),
  fc.record({ endpoint: hostileText, range: fc.record({ start: day, end: day }) }),
);
type Named = readonly [Subject, DataName];
const anyTwo = fc.tuple(fc.tuple(subject, data), fc.tuple(subject, data));

/** Pairs whose parts join to the same text without escaping: cut at one of its separators, or at another. */
const ofOneText: typeof anyTwo = fc
  .array(fc.constantFrom("a", "b", "%2F", day1, `${day1}..${day2}`), { minLength: 3, maxLength: 5 })
  .chain((parts) => {
    const cut = fc.tuple(
      fc.constantFrom("/", "#"),
      fc.integer({ min: 1, max: parts.length - 1 }),
      fc.boolean(),
    );
    const namedBy = ([joint, at, isDated]: readonly [string, number, boolean]): [Subject, DataName] => {
      const rest = parts.slice(at);
      const last = rest.at(-1)?.split("..") ?? [];
      const [start, end] = last;
      const id = parts.slice(0, at).join(joint);
      const range =
        isDated && start !== undefined && end !== undefined && rest.length > 1 ? { start, end } : undefined;
      const endpoint = (range ? rest.slice(0, -1) : rest).join(joint);
      return [
        { kind: "account", id },
        { endpoint, ...(range && { range }) },
      ];
    };
    return fc.tuple(cut.map(namedBy), cut.map(namedBy));
  });
const two = fc.oneof(anyTwo, ofOneText);

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
const textOf = ({ pk, sk }: Key) => JSON.stringify([pk, sk]);
const keyOf = ([of, name]: Named) => textOf(documentKey(of, name));

async function pagesKeyOf([of, name]: Named): Promise<string> {
  const keys: string[] = [];
  const bucket = { put: async (key: string) => void keys.push(key), find: never, get: never, size: never };
  const read = { asOf: 1, by: [], known: undefined };
  const from = { next: "b", pages: 1, mark: "a" };
  await keptPages(bucket).keep({ subject: of, ...name, messageId: "m" }, { read, from, items: [] });
  return keys.join();
}

async function never(): Promise<never> {
  throw new Error("nothing is read here");
}

describe("the keys of two subjects, or of two documents, whatever their ids hold,", () => {
  it("are different items", () => {
    fc.assert(
      fc.property(two, ([one, other]) => {
        fc.pre(!isSame(one, other));
        const [of, name] = one;
        const mine = [keyOf(one), textOf(stateKey(of)), textOf(linkKey(of.id, name.endpoint))];
        expect(mine).not.toContain(keyOf(other));
        expect(new Set(mine).size).toBe(mine.length);
      }),
    );
  });

  it("are different objects, of which none lies below another subject", async () => {
    await fc.assert(
      fc.asyncProperty(two, async ([one, other]) => {
        fc.pre(!isSame(one, other));
        const key = await pagesKeyOf(one);
        expect(key).not.toBe(await pagesKeyOf(other));
        if (!isSame(one[0], other[0])) expect(key.startsWith(`pages/${nameOf(other[0])}/`)).toBe(false);
      }),
    );
  });

  it("are different subjects of messages", () => {
    const subjectOf = ([of, name]: Named) => `${nameOf(of)}/${nameOfData(name, "/")}`;
    fc.assert(
      fc.property(two, ([one, other]) => {
        fc.pre(!isSame(one, other));
        expect(subjectOf(one)).not.toBe(subjectOf(other));
        expect(subjectOf(one)).not.toBe(nameOf(other[0]));
      }),
    );
  });
});

const state = {
  subject: { kind: "account", id: "a" },
  version: 1,
  deleted: false,
  unconfirmed: false,
  processed: [],
  latest: { cause: "again" },
};
const item = { pk: "ACCOUNT#a", sk: "STATE", schemaVersion: itemVersion, version: 1, state };
const recordOf = (image: object) => ({ dynamodb: { SequenceNumber: "1", NewImage: marshall(image) } });
const laterRelease = expect.objectContaining({ failure: expect.objectContaining({ waitsFor: "release" }) });
const thrownBy = (read: () => unknown) => {
  try {
    return read();
  } catch (error) {
    return error;
  }
};

describe("an item", () => {
  it("without a version has the first version", () => {
    expect(readItem(marshall({ pk: "PROVIDER", opened: 1 }))).toEqual({ pk: "PROVIDER", opened: 1 });
  });

  it("of the next release is read with its new fields, also from the stream", () => {
    const next = { ...item, schemaVersion: itemVersion + 1, state: { ...state, added: { by: "the next" } } };
    expect(readItem(marshall(next))).toEqual(next);
    expect(readChange(recordOf(next))).toEqual({ type: "state", before: undefined, after: state });
  });

  it("of a later release is not processed, also in the stream", () => {
    const later = { ...item, schemaVersion: itemVersion + 2 };
    expect(thrownBy(() => readItem(marshall(later)))).toEqual(laterRelease);
    expect(thrownBy(() => readChange(recordOf(later)))).toEqual(laterRelease);
  });
});
