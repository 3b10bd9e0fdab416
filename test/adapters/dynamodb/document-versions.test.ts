import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReadKey, Write, WriteItem } from "../../../adapters/dynamodb/batching.ts";
import { contentOf, documentStore, versionKeeper } from "../../../adapters/dynamodb/documents.ts";
import { holdKey, type Key, versionKey, versionPrefix } from "../../../adapters/dynamodb/keys.ts";
import { type Document, expiryOf } from "../../../domain/fetch/document.ts";
import { documentRead } from "../../domain/samples.ts";

const days = 30;
const user = { kind: "user", id: "u" } as const;
const account = { kind: "account", id: "a" } as const;
const income = { endpoint: "income" };

type Item = Record<string, unknown>;

/**
 * A table whose writes fail or lose their answers, while an operator sets and ends holds between any two
 * calls.
 */
class World {
  readonly items = new Map<string, Item>();
  readonly #choices: number[];
  /** The operator's next requests. */
  readonly #steps: (() => void)[] = [];

  constructor(choices: readonly number[]) {
    this.#choices = [...choices];
  }

  readonly read: ReadKey = async (key) => {
    this.#happen();
    return structuredClone(this.items.get(nameOf(key)));
  };

  readonly write: WriteItem = async (write) => {
    this.#happen();
    const fault = this.#choose(8);
    if (fault === 1) throw new Error("not made");
    const outcome = this.#apply(write);
    if (fault === 2) throw new Error("the answer is lost");
    return outcome;
  };

  isHeld(): boolean {
    return this.items.has(nameOf(holdKey(user)));
  }

  finish(): void {
    this.#choices.length = 0;
    while (this.#steps.length > 0) this.#steps.shift()?.();
  }

  #choose(limit: number): number {
    return (this.#choices.shift() ?? 0) % limit;
  }

  #happen(): void {
    if (this.#choose(3) === 1 && this.#steps.length === 0) this.#begin();
    if (this.#choose(3) > 0) this.#steps.shift()?.();
  }

  #begin(): void {
    const found: string[] = [];
    const look = () =>
      void found.push(...[...this.items.keys()].filter((key) => key.includes(versionPrefix)));
    const key = nameOf(holdKey(user));
    if (this.isHeld()) {
      this.#steps.push(
        () => void this.items.delete(key),
        look,
        () => this.#expire(found, true),
      );
    } else {
      this.#steps.push(
        () => void this.items.set(key, {}),
        look,
        () => this.#expire(found, false),
      );
    }
  }

  #expire(keys: readonly string[], expires: boolean): void {
    for (const key of keys) {
      const { expiresAt: _, ...item } = this.items.get(key) ?? {};
      const { supersededAt } = documentIn(item);
      this.items.set(key, { ...item, ...(expires && { expiresAt: expiryOf(supersededAt, days) }) });
    }
  }

  #apply(write: Write): "written" | "conflict" {
    const name = nameOf(write.key);
    const item = this.items.get(name);
    if (write.type === "insert") {
      if (item !== undefined) return "conflict";
      this.items.set(name, structuredClone({ ...write.attributes }));
      return "written";
    }
    const holds = write.where.every(({ value }) => documentIn(item).asOf === value);
    if (item === undefined || !holds) return "conflict";
    this.items.set(name, { ...item, [write.attribute]: structuredClone(write.value) });
    return "written";
  }
}

function nameOf({ pk, sk }: Key): string {
  return `${pk} ${sk}`;
}

function documentIn(item: Item | undefined): { asOf?: number; supersededAt: number; digest?: string } {
  return { supersededAt: 0, ...(item?.document as object | undefined) };
}

const noBucket = {
  put: () => Promise.reject(new Error("too large")),
  get: () => Promise.reject(new Error("too large")),
  size: () => Promise.reject(new Error("too large")),
  find: () => Promise.reject(new Error("too large")),
};

describe("the versions of a document", () => {
  it("are all kept until they expire or while they are held, whatever fails between (law)", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("[1]", "[2]", "[3]", undefined), { minLength: 2, maxLength: 8 }),
        fc.array(fc.nat({ max: 23 }), { maxLength: 400 }),
        async (texts, choices) => {
          const world = new World(choices);
          const store = documentStore(
            world.read,
            world.write,
            noBucket,
            versionKeeper(world.read, world.write, days),
          );
          const accepted: Document[] = [];
          let asOf = 0;
          for (const text of texts) {
            for (;;) {
              const known = await store.load(account, income);
              if (known?.document.asOf === asOf && asOf > 0 && known.document.digest === digestOf(text))
                break;
              asOf += 10_000;
              const content = text === undefined ? undefined : contentOf(text);
              const call = { asOf, by: [], subject: account, userId: user.id };
              const next = documentRead(known?.document, content?.digest, call);
              const outcome = await store.save(known, next, content).catch(() => "unknown" as const);
              const after = documentIn(world.items.get(`ACCOUNT#a DOCUMENT#income`)).asOf;
              if (outcome === "written" || after === asOf) {
                if (next.news) accepted.push(next);
                break;
              }
            }
          }
          world.finish();
          for (const [index, { digest, announced = 0 }] of accepted.entries()) {
            const successor = accepted[index + 1];
            if (digest === undefined || successor?.announced === undefined) continue;
            const item = world.items.get(nameOf(versionKey(account, income, announced)));
            expect(item).toMatchObject({ document: { digest, supersededAt: successor.announced } });
            const expiry = world.isHeld() ? undefined : expiryOf(successor.announced, days);
            expect(item?.expiresAt ?? undefined).toBe(expiry);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it("cost one more write if the content changes, and none otherwise", async () => {
    const world = new World([]);
    const writes: string[] = [];
    const write: WriteItem = (each) => {
      writes.push(each.key.sk.split("#")[0] ?? "");
      return world.write(each);
    };
    const store = documentStore(world.read, write, noBucket, versionKeeper(world.read, write, days));
    for (const [index, text] of ["[1]", "[1]", "[2]"].entries()) {
      const known = await store.load(account, income);
      const content = contentOf(text);
      const next = documentRead(known?.document, content.digest, {
        asOf: index + 1,
        by: [],
        subject: account,
      });
      await store.save(known, next, content);
    }
    expect(writes).toEqual(["DOCUMENT", "DOCUMENT", "VERSION", "DOCUMENT"]);
  });
});

function digestOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : contentOf(text).digest;
}
