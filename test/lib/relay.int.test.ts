import { parseEventFilter } from "@income-events/local-stack/sources/event-filter.ts";
import { describe, expect, it } from "vitest";
import { nameOf, productionSettings, synthesized } from "./synthesized.ts";
import { production } from "./synthesized-stages.ts";

describe("the relay", () => {
  const patternsOf = (stack: typeof production): readonly string[] => {
    const sources = stack.ofType("AWS::Lambda::EventSourceMapping");
    const source = sources.find(({ id }) => nameOf(id) === "RelaySource");
    const filters = JSON.stringify(source?.Properties.FilterCriteria);
    return [...filters.matchAll(/"Pattern":("(?:[^"\\]|\\.)*")/g)].map(([, text]) => JSON.parse(text ?? ""));
  };
  const relayed = () => patternsOf(production);

  it("is handed events, states, documents with news, and what expires with an object, alone", () => {
    const sortKey = (S: unknown[]) => ({ Keys: { sk: { S } } });
    expect(relayed().map((pattern) => JSON.parse(pattern))).toEqual([
      { eventName: ["INSERT", "MODIFY"], dynamodb: sortKey([{ prefix: "EVENT#" }]) },
      { eventName: ["INSERT", "MODIFY"], dynamodb: sortKey(["STATE"]) },
      {
        eventName: ["INSERT", "MODIFY"],
        dynamodb: {
          ...sortKey([{ prefix: "DOCUMENT#" }]),
          NewImage: { document: { M: { news: { BOOL: [true] } } } },
        },
      },
      {
        eventName: ["REMOVE"],
        dynamodb: {
          ...sortKey([{ prefix: "VERSION#" }, { prefix: "SUPERSEDED#" }]),
          OldImage: {
            document: { M: { object: { S: [{ exists: true }] } } },
            expiresAt: { N: [{ exists: true }] },
          },
        },
      },
    ]);
  });

  it("receives readiness and each read of its endpoints if the stage has them, with at most five filters", () => {
    const waiting = synthesized({ ...productionSettings, readiness: { endpoints: ["income", "profile"] } });
    const added = patternsOf(waiting).filter((pattern) => !relayed().includes(pattern));
    expect(added.map((pattern) => JSON.parse(pattern).dynamodb.Keys.sk.S)).toEqual([
      ["STATE", "READINESS"],
      ["DOCUMENT#income", "DOCUMENT#profile"],
    ]);
    // AWS Lambda developer guide, "Control which events Lambda sends to your function": up to five filters.
    expect(patternsOf(waiting)).toHaveLength(5);
    const namesOf = (stack: typeof production, type: string) =>
      stack.ofType(type).map(({ id }) => nameOf(id));
    for (const type of ["AWS::Lambda::Function", "AWS::SQS::Queue"]) {
      const [before, after] = [namesOf(production, type), namesOf(waiting, type)];
      expect(before.filter((name) => name.startsWith("Readiness"))).toEqual([]);
      expect(
        after.filter((name) => !before.includes(name)).every((name) => name.startsWith("Readiness")),
      ).toBe(true);
    }
  });

  it("receives canaries if the stage has one, with at most five filters, and no other resources are added", () => {
    const watched = synthesized({
      ...productionSettings,
      ...{ canary: {}, readiness: { endpoints: ["income"] } },
    });
    expect(patternsOf(watched)).toHaveLength(5);
    expect(JSON.parse(patternsOf(watched)[0] ?? "").dynamodb.Keys.sk.S).toEqual([
      { prefix: "EVENT#" },
      { prefix: "CANARY#" },
    ]);
    const { resources } = synthesized({ ...productionSettings, canary: {} });
    const added = resources.filter(({ id }) => !production.resources.some((each) => each.id === id));
    expect(added.filter(({ id }) => !id.startsWith("Canary"))).toEqual([]);
    expect(production.resources.filter(({ id }) => id.startsWith("Canary"))).toEqual([]);
    // It has no data to retain when the setting is removed.
    const queue = added.filter(({ Type }) => Type.startsWith("AWS::SQS::"));
    expect(queue.map(({ DeletionPolicy }) => DeletionPolicy)).toEqual(["Delete", "Delete"]);
  });

  it("receives only removals of items that can expire and have an object", () => {
    const filters = relayed().map(parseEventFilter);
    const removal = (sk: string, document: object, rest: object = { expiresAt: { N: "1900000000" } }) => ({
      eventName: "REMOVE",
      dynamodb: {
        Keys: { pk: { S: "ACCOUNT#a" }, sk: { S: sk } },
        OldImage: { document: { M: document }, ...rest },
      },
    });
    const object = { object: { S: "data/account/a/income/1.d.json.gz" } };
    const isRelayed = (record: object) => filters.some((matches) => matches(record));
    // Without `userIdentity`, which a record lacks if a replica in another region deleted the item.
    for (const sk of ["VERSION#income@1", "SUPERSEDED#income@1"])
      expect([removal(sk, object), removal(sk, object, {})].map(isRelayed)).toEqual([true, false]);
    expect(isRelayed(removal("VERSION#income@1", { content: { B: "W10=" } }))).toBe(false);
    expect(isRelayed(removal("DOCUMENT#income", object))).toBe(false);
  });
});
