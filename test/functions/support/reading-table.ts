import { expect } from "vitest";
import { retryable, waiting } from "../../../domain/core/failures.ts";
import type { DocumentRecord } from "../../../domain/fetch/document.ts";
import type { ReadDependencies } from "../../../functions/fetch/read.ts";
import type { PagesDependencies } from "../../../functions/fetch/read-pages.ts";

/** In seconds: how long a process that reads can live, and so its claim. */
export const processLifetime = 60;

/**
 * A call to the provider, which begins with its claim, for from then on nothing keeps it back. `noted` is what it
 * covers; it succeeded where its answer was stored and noted.
 */
export type Call = { readonly noted: number; readonly begun: number; isSuccessful: boolean };

/** What is done otherwise than ours, to show that a law notices. */
export type Mutation = "none" | "claims hold nobody off" | "refused tasks are dropped";

/** What surrounds the table: one process's turn, time, the provider's data, and whether it fails. */
export type Surroundings = {
  /** Resolves when it is the process's turn; never, where the process is killed before. */
  readonly turn: () => Promise<void>;
  readonly seconds: () => number;
  readonly data: () => number;
  readonly isFailing: () => boolean;
  readonly write: (change: (known: DocumentRecord | undefined) => DocumentRecord | undefined) => void;
};

const paths = { read: "/{account_id}/{endpoint}", readCompany: "/", account: "/", companyAccount: "/" };
/** No answer here has pages. */
const onePage: Omit<PagesDependencies, "call"> = {
  provider: {
    paths: { ...paths, users: "/", refresh: "/" },
    paging: { by: "cursor", items: "data", next: "next", parameter: "cursor", maxPages: 1 },
    timeouts: { connectSeconds: 1, headersSeconds: 1, bodySeconds: 1 },
    maxDataBytes: 1,
  },
  keptPages: { keep: async () => expect.fail("kept"), find: async () => expect.fail("sought") },
  inTurn: (work) => work(false),
  timeLeft: () => processLifetime * 1000,
};

/** One document as the table keeps it: counters, content and claim, with the conditions that the table has. */
export class ReadingTable {
  known: DocumentRecord | undefined;
  stored = { noted: 0, data: 0 };
  readonly calls: Call[] = [];
  readonly #mutation: Mutation;
  #claim = { noted: 0, until: 0 };
  #claims = 0;

  constructor(mutation: Mutation) {
    this.#mutation = mutation;
  }

  /** A process's ports: each thing that it does to the table or the provider waits for its turn. */
  portsOf({ turn, seconds, data, isFailing, write }: Surroundings): ReadDependencies {
    let call: Call = { noted: 0, begun: 0, isSuccessful: false };
    return {
      gate: async () => undefined,
      ...onePage,
      now: () => new Date(seconds() * 1000),
      versionedRecords: {
        loadDocument: async () => {
          await turn();
          return this.known;
        },
        document: async (_subject, _name, change, known) => {
          await turn();
          // Tried over what was known; where that is overtaken, over what is there.
          if (known === undefined || change(known) !== undefined) write(change);
          call.isSuccessful = true;
        },
      },
      claimData: async (_subject, _name, noted, lookedAt) => {
        await turn();
        const claim = this.#claimFor(noted, lookedAt.getTime() / 1000, seconds());
        this.#claims += 1;
        call = { noted, begun: this.#claims, isSuccessful: false };
        return async () => {
          await turn();
          if (this.#claim === claim) this.#claim = { noted, until: 0 };
        };
      },
      call: async () => {
        await turn();
        this.calls.push(call);
        await turn();
        const text = String(data());
        await turn();
        if (isFailing()) throw retryable("the provider answered 503");
        return { found: true, text };
      },
      storeContent: async (_subject, _name, noted, content) => {
        await turn();
        if (noted >= this.stored.noted) this.stored = { noted, data: Number(content?.parts.join("")) };
      },
    };
  }

  #claimFor(noted: number, lookedAt: number, seconds: number) {
    const { noted: claimed, until } = this.#claim;
    const isFree = noted > claimed || (noted === claimed && until <= lookedAt);
    if (!isFree && this.#mutation !== "claims hold nobody off") {
      throw waiting("claimed", Math.max(1, until - seconds));
    }
    this.#claim = { noted, until: seconds + processLifetime };
    return this.#claim;
  }
}
