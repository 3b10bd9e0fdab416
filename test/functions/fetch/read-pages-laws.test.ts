import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Content } from "../../../adapters/dynamodb/documents.ts";
import { failureOf, permanent, retryable, waiting } from "../../../domain/core/failures.ts";
import { dataIn } from "../../../domain/fetch/answer.ts";
import { type PartialList, type Reading, readPages } from "../../../functions/fetch/read-pages.ts";
import { provider } from "../support/fetcher-settings.ts";

const faults = ["503", "no rate", "no time", "kept nothing", "lost what was kept", "cursor refused"] as const;
type Fault = "none" | (typeof faults)[number];
/** Faults after which pages are read again. */
const costly = new Set<Fault>(["kept nothing", "lost what was kept", "cursor refused"]);

/** A provider with a paged list, a store, and a fault at each point; all in memory. */
class Simulation {
  kept: PartialList | undefined;
  readonly answered: number[] = [];
  runs = 0;
  fault: Fault = "none";
  readonly #pages: readonly (readonly string[])[];

  constructor(pages: readonly (readonly string[])[]) {
    this.#pages = pages;
  }

  /** Reads until the list is complete; each run has its fault, the last ones none. */
  async readAll(each: readonly Fault[]): Promise<Content | undefined> {
    const of = { subject: { kind: "account", id: "a" }, endpoint: "income", messageId: "m" } as const;
    const read = { asOf: 7, by: ["digest"], known: 3 };
    for (;;) {
      this.fault = each[this.runs] ?? "none";
      this.runs += 1;
      if (this.fault === "lost what was kept") this.kept = undefined;
      try {
        return await readPages({ of, read, kept: this.kept, ...this.#ports() });
      } catch (error) {
        const failure = failureOf(error);
        if (failure.type === "permanent") throw error;
        if (this.kept !== undefined) expect(this.kept.read).toEqual(read);
      }
    }
  }

  #ports(): Omit<Reading, "of" | "read" | "kept"> {
    let calls = 0;
    return {
      provider: {
        ...provider,
        paths: { ...provider.paths, read: "/list" },
        paging: { ...provider.paging, parameter: "c", maxPages: 100 },
      },
      client: {
        call: async ({ path }) => {
          calls += 1;
          const page = Number(/c=(\d+)/.exec(path)?.[1] ?? "0");
          if (this.fault === "503" && calls === 2) throw retryable("503");
          if (this.fault === "no rate" && calls === 2) throw waiting("no rate", 1);
          if (this.fault === "kept nothing" && calls === 2) throw retryable("503");
          if (this.fault === "cursor refused" && page > 0) throw permanent("400", 400);
          this.answered.push(page);
          return { found: true, ...dataIn(this.#textOf(page)) };
        },
      },
      keptPages: {
        keep: async (_, list) => {
          if (this.fault === "kept nothing") throw retryable("no store");
          const items = Buffer.concat(list.items);
          this.kept = { ...list, items: items.byteLength === 0 ? [] : [items] };
        },
        forget: async () => {
          this.kept = undefined;
        },
        find: async () => expect.fail("sought"),
      },
      pageMutex: (work) => work(false),
      timeLeft: () => (this.fault === "no time" ? 0 : 60_000),
    };
  }

  #textOf(page: number): string {
    const next = page + 1 < this.#pages.length ? `"${page + 1}"` : "null";
    return `{"page":${page},"data":[${this.#pages[page]?.join(", ")}],"next":${next}}`;
  }
}

const item = fc.oneof(
  fc.bigInt().map(String),
  fc.constantFrom("1.10", "-0", "1e400", '"]"', '"\\""', "{}", '{"data":[1.0],"next":"x"}', '"ü…"', "[[]]"),
  fc.json(),
);
const pages = fc.array(fc.array(item, { maxLength: 3 }), { minLength: 2, maxLength: 8 });

describe("a list in pages", () => {
  it("is what one page would have been, digit by digit, whatever happens while it is read", async () => {
    await fc.assert(
      fc.asyncProperty(pages, fc.array(fc.constantFrom(...faults), { maxLength: 12 }), async (list, each) => {
        const content = await new Simulation(list).readAll(each);
        const text = Buffer.concat(content?.parts ?? []).toString();
        const items = list.map((page) => page.join(", ")).filter((page) => page !== "");
        expect(text).toBe(`{"page":${list.length - 1},"data":[${items.join(",")}],"next":null}`);
        JSON.parse(text);
      }),
      { numRuns: 300 },
    );
  });

  it("is requested once page by page, unless saved pages are lost or the cursor expired", async () => {
    const cheap = faults.filter((fault) => !costly.has(fault));
    await fc.assert(
      fc.asyncProperty(pages, fc.array(fc.constantFrom(...cheap), { maxLength: 12 }), async (list, each) => {
        const simulation = new Simulation(list);
        await simulation.readAll(each);
        expect(simulation.answered).toEqual(list.map((_, page) => page));
      }),
      { numRuns: 300 },
    );
  });
});
