import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Subject } from "../../../domain/event/subjects.ts";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import { announceUser, concernsUser, type UserRule } from "../../../domain/readiness/readiness.ts";
import type { AccountReadiness, UserReadiness } from "../../../domain/readiness/stored-readiness.ts";

const user: Subject = { kind: "user", id: "u" };

/** An account, such as `a ready`. `?`: unconfirmed; `@2`: connected since 2. */
function accountOf(text: string): AccountReadiness {
  const [, id = "", known = "", doubt, at = "1"] = /^(\w+) (\w+)(\?)?(?:@(\d+))?$/.exec(text) ?? [];
  const since = Number(at);
  const isAnnounced = known === "ready" || known === "incomplete";
  return {
    subject: { kind: "account", id },
    ...{ version: 2, stateVersion: 1, userId: "u", isConnected: known !== "ended", isConfirmed: !doubt },
    ...{ since, deadline: since + 60, endpoints: ["income"], readings: {} },
    ...(isAnnounced && {
      announced: { status: known, version: 2, since, at: 7, documents: [], missing: [] },
    }),
  };
}

const announce = (known: UserReadiness | undefined, rule: UserRule, accounts: readonly string[]) =>
  announceUser(known, user, accounts.map(accountOf), { rule, now: 9, correlationId: "c" });

it.each<[UserRule, readonly string[], string | undefined]>([
  ["all", [], undefined],
  ["all", ["a ended"], undefined],
  ["all", ["a waiting"], undefined],
  ["all", ["a ready"], "a ready"],
  ["all", ["a incomplete"], "a incomplete"],
  ["all", ["a ready?"], undefined],
  ["all", ["a ready", "b waiting"], undefined],
  ["all", ["a ready", "b incomplete?"], undefined],
  ["all", ["a ready", "b ended"], "a ready"],
  ["all", ["a ready", "b ended?"], "a ready"],
  ["all", ["b incomplete", "a ready"], "a ready, b incomplete"],
  ["any", ["a waiting", "b ended"], undefined],
  ["any", ["a ready?", "b waiting"], undefined],
  ["any", ["a ready", "b waiting"], "a ready"],
  ["any", ["a waiting", "b incomplete", "c ready"], "b incomplete, c ready"],
])("announces of %s the accounts %j: %s", (rule, accounts, expected) => {
  const announced = announce(undefined, rule, accounts);
  const names = announced?.accounts.map(({ accountId, status }) => `${accountId} ${status}`).join(", ");
  expect(names).toBe(expected);
  if (announced === undefined) return;
  expect(announced).toMatchObject({ subject: user, version: 1, at: 9, correlationId: "c" });
});

it.each<[string, readonly string[], boolean]>([
  ["the same accounts", ["a ready", "b incomplete"], false],
  ["another that waits", ["a ready", "b incomplete", "c waiting"], false],
  ["another", ["a ready", "b incomplete", "c ready"], true],
  ["another in place of one", ["a ready", "c incomplete"], true],
  ["one that is ready after all", ["a ready", "b ready"], true],
  ["one that is connected again", ["a ready@2", "b incomplete"], true],
  ["one less", ["a ready", "b ended"], true],
  ["none", ["a ended", "b ended"], false],
])("announces %s after two accounts: %j", (_, accounts, isAgain) => {
  const known = announce(undefined, "all", ["a ready", "b incomplete"]);
  expect(announce(known, "all", accounts)?.version).toBe(isAgain ? 2 : undefined);
});

it.each<[string, string | undefined, string, boolean]>([
  ["waits at first", undefined, "a waiting", false],
  ["is ready at first", undefined, "a ready", true],
  ["is repaired after its end", undefined, "a ended", true],
  ["still waits", "a waiting", "a waiting", false],
  ["becomes ready", "a waiting", "a ready", true],
  ["becomes ready late", "a incomplete", "a ready", true],
  ["stays ready", "a ready", "a ready", false],
  ["is unconfirmed", "a ready", "a ready?", true],
  ["is disconnected while it waits", "a waiting", "a ended", true],
  ["is confirmed as disconnected", "a ended?", "a ended", false],
  ["is connected again", "a ready@1", "a waiting@2", true],
  ["is ready in a newer connection", "a ready@1", "a ready@2", true],
])("asks for the user's accounts when an account %s", (_, before, after, isConcerned) => {
  const known = before === undefined ? undefined : accountOf(before);
  expect(concernsUser(known, accountOf(after))).toBe(isConcerned);
});

it("requests the user's accounts once the account's user is known", () => {
  const { userId: _, ...before } = accountOf("a ready");
  expect(concernsUser(before, accountOf("a ready"))).toBe(true);
  expect(concernsUser(accountOf("a waiting"), before)).toBe(false);
});

const statuses = ["ready", "ended", "waiting", "incomplete", "ready?"] as const;
type Step = { readonly change: readonly [number, (typeof statuses)[number]] } | { readonly run: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ change: fc.tuple(fc.nat(1), fc.constantFrom("ready", "ended", ...statuses)) }),
  },
  { weight: 2, arbitrary: fc.record({ run: fc.constantFrom(-1, -1, 0) }) },
);

/** Relays of several shards, whose steps interleave. */
class Relays {
  item: UserReadiness | undefined;
  readonly accounts = ["a ended", "b ended"];
  readonly announced: UserReadiness[] = [];
  readonly #running: Generator<void>[] = [];
  readonly #rule: UserRule;

  constructor(rule: UserRule) {
    this.#rule = rule;
  }

  change(index: number, status: (typeof statuses)[number]): void {
    const before = accountOf(this.accounts[index] ?? "");
    const account = `${before.subject.id} ${status}@${before.since + (before.isConnected ? 0 : 1)}`;
    this.accounts[index] = account;
    const change = { type: "readiness", before, after: accountOf(account) } as const;
    this.#relay(consequencesOf(change, settings));
  }

  /**
   * Runs one step of a relay.
   * @param index -1: the most recent one
   */
  step(index: number): boolean {
    const running = this.#running.at(index % Math.max(1, this.#running.length));
    if (running?.next().done === true) this.#running.splice(this.#running.indexOf(running), 1);
    return running !== undefined;
  }

  #relay(consequences: ReturnType<typeof consequencesOf>): void {
    for (const { type } of consequences) if (type === "followAccounts") this.#running.push(this.#follow());
  }

  *#follow(): Generator<void> {
    for (let isWritten = false; !isWritten; ) {
      const known = this.item;
      yield;
      const accounts = [...this.accounts];
      yield;
      const next = announce(known, this.#rule, accounts);
      if (next === undefined) return;
      isWritten = this.item?.version === known?.version;
      if (!isWritten) continue;
      this.item = next;
      this.announced.push(next);
      yield;
      this.#relay(consequencesOf({ type: "userReadiness", before: known, after: next }, settings));
    }
  }
}

const settings = {
  ...{ source: "s", documentsUrl: "https://d/", readByRange: [] },
  readiness: { endpoints: ["income"], deadlineSeconds: 60 },
};

describe.each(["all", "any"] as const)("with the rule %s", (rule) => {
  it("announces the final state, and nothing twice in a row, however relays overlap", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(0, -1), (steps, next) => {
        const relays = new Relays(rule);
        for (const each of steps) {
          if ("change" in each) relays.change(...each.change);
          else relays.step(each.run);
        }
        while (relays.step(next));
        const inTheEnd = announce(undefined, rule, relays.accounts);
        if (inTheEnd !== undefined) expect(relays.item?.accounts).toEqual(inTheEnd.accounts);
        const lists = relays.announced.map(({ accounts }) => JSON.stringify(accounts));
        expect(lists.filter((each, index) => each === lists[index - 1])).toEqual([]);
        expect(relays.announced.map(({ version }) => version)).toEqual(lists.map((_, index) => index + 1));
      }),
      {
        numRuns: 1_000,
        // An account disconnects between the read and the write.
        examples: [
          [
            [
              { change: [0, "ready"] },
              ...[0, 0, 0, 0].map((run) => ({ run })),
              { change: [1, "ready"] },
              ...[0, 0].map((run) => ({ run })),
              { change: [1, "ended"] },
            ],
            -1,
          ],
        ],
      },
    );
  });
});
