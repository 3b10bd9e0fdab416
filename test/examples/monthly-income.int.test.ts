import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IncomeBook } from "../../examples/monthly-income/income-book.ts";
import { createReader } from "../../packages/subscriber/index.ts";
import { hrefOf, payment } from "../packages/subscriber/income-documents.ts";
import { askPython, runsPython } from "../support/python.ts";

const owners = { "a-1": "ada", "a-2": "ada", "g-1": "grace" } as const;
type Account = keyof typeof owners;
type User = (typeof owners)[Account];
const accounts: readonly Account[] = ["a-1", "a-2", "g-1"];
const users: readonly User[] = ["ada", "grace"];
/** An account has several documents if its endpoint is read by ranges. */
const names = ["income", "income/2026-10-01..2026-11-30", "income/2026-11-01..2026-12-31"];

/** The steps in order. Payments are identified by numbers, which also determine their amounts. */
type Step =
  | {
      readonly type: "user";
      readonly user: User;
      readonly deleted: boolean;
      readonly loanId: string | undefined;
    }
  | { readonly type: "account"; readonly account: Account; readonly deleted: boolean }
  | {
      readonly type: "document";
      readonly account: Account;
      readonly name: string;
      /** Absent: the provider no longer has data. */
      readonly payments: readonly number[] | undefined;
      readonly namesUser: boolean;
    }
  | { readonly type: "erase"; readonly user: User };

const steps = fc.array(
  fc.oneof(
    fc.record({
      type: fc.constant("user" as const),
      user: fc.constantFrom(...users),
      deleted: fc.constantFrom(false, false, false, true),
      loanId: fc.constantFrom("loan-1", "loan-2", "loan-3", undefined),
    }),
    fc.record({
      type: fc.constant("account" as const),
      account: fc.constantFrom(...accounts),
      deleted: fc.constantFrom(false, false, true),
    }),
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant("document" as const),
        account: fc.constantFrom(...accounts),
        name: fc.constantFrom(...names),
        payments: fc.option(fc.uniqueArray(fc.nat(9)), { nil: undefined }),
        namesUser: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant("erase" as const), user: fc.constantFrom(...users) }),
    },
  ),
  { maxLength: 20, size: "max" },
);

const monthOf = (number: number) => ["2026-10", "2026-11", "2026-12"][number % 3] ?? "";
const paymentOf = (number: number) =>
  payment(String(number), {
    paid_at: `${monthOf(number)}-10 12:00:00`,
    gross: `${number}.50`,
    net: `${number}.25`,
  });

/** Messages of a history, and the final state. */
function play(history: readonly Step[]) {
  const messages: object[] = [];
  const erased = new Set<string>();
  const deleted = new Map<string, boolean>();
  const loans = new Map<string, string | undefined>();
  const documents = new Map<string, { account: Account; payments: readonly number[] }>();
  const send = (type: string, subject: string, data: object, sequence?: string) =>
    messages.push({
      ...{ specversion: "1.0", id: `m-${messages.length}`, source: "/income-events/test", type, subject },
      ...{ time: "2026-11-27T00:00:00.000Z", datacontenttype: "application/json" },
      sequence: sequence ?? numbered(messages.length),
      data,
    });
  // Every account is announced with its user.
  const all: readonly Step[] = [
    ...accounts.map((account) => ({ type: "account" as const, account, deleted: false })),
    ...history,
  ];
  for (const step of all) {
    const user = step.type === "user" || step.type === "erase" ? step.user : owners[step.account];
    if (erased.has(user)) continue;
    const userId = user;
    const state = { unconfirmed: false, outcome: "applied" };
    const loanId = loans.get(user);
    const attributes =
      loanId === undefined ? {} : { attributes: { loanId }, attributesSequence: numbered(messages.length) };
    switch (step.type) {
      case "user":
        loans.set(user, step.loanId);
        deleted.set(user, step.deleted);
        send("user.updated", `user/${user}`, {
          ...{ userId, deleted: step.deleted, ...state },
          ...{ attributes: { loanId: step.loanId }, attributesSequence: numbered(messages.length) },
        });
        break;
      case "account":
        deleted.set(step.account, step.deleted);
        send("account.updated", `account/${step.account}`, {
          ...{ accountId: step.account, userId, deleted: step.deleted, ...state, ...attributes },
        });
        break;
      case "document": {
        const { account, name, payments } = step;
        const subject = `account/${account}/${name}`;
        if (payments === undefined) documents.delete(subject);
        else documents.set(subject, { account, payments });
        const document =
          payments === undefined ? {} : { document: inline(account, name, messages.length, payments) };
        const owner = step.namesUser ? { userId, ...attributes } : {};
        send("data.updated", subject, { accountId: account, endpoint: "income", ...owner, ...document });
        break;
      }
      case "erase": {
        erased.add(user);
        for (const account of accounts.filter((each) => owners[each] === user))
          send("account.erased", `account/${account}`, { accountId: account }, "9".repeat(20));
        send("user.erased", `user/${user}`, { userId }, "9".repeat(20));
      }
    }
  }
  return { messages, erased, deleted, loans, documents: [...documents.values()] };
}

const numbered = (number: number) => String(number).padStart(20, "0");

function inline(account: Account, name: string, version: number, numbers: readonly number[]) {
  const content = { data: numbers.map(paymentOf) };
  const bytes = JSON.stringify(content);
  return {
    href: hrefOf(version, name, account),
    sha256: createHash("sha256").update(bytes).digest("hex"),
    ...{ size: bytes.length, contentType: "application/json", version: String(version) },
    observedAt: "2026-11-27T00:00:00.000Z",
    content,
  };
}

/**
 * Calculated by plain arithmetic: each payment of an account once, unless it or its user is deleted or
 * erased.
 */
function expectedOf({ erased, deleted, loans, documents }: ReturnType<typeof play>) {
  return users
    .filter((user) => !erased.has(user) && !deleted.get(user))
    .flatMap((user) => {
      const own = accounts
        .filter((account) => owners[account] === user && !deleted.get(account))
        .flatMap((account) => [
          ...new Set(
            documents.filter((each) => each.account === account).flatMap(({ payments }) => payments),
          ),
        ]);
      return ["2026-10", "2026-11", "2026-12"].flatMap((month) => {
        const paid = own.filter((number) => monthOf(number) === month);
        const sum = (cents: number) =>
          (paid.reduce((total, number) => total + number * 100 + cents, 0) / 100).toFixed(2);
        const income = { user, loanId: loans.get(user) ?? null, month, currency: "USD" };
        return paid.length === 0 ? [] : [{ ...income, gross: sum(50), net: sum(25) }];
      });
    });
}

/** As queues and replays deliver: each message three times, in any order. */
const deliveries = steps.map(play).chain((played) => {
  const replayed = played.messages.map((message) => ({ replayid: "r-1", ...message }));
  const copies = [...played.messages, ...played.messages, ...replayed].map((message) =>
    JSON.stringify(message),
  );
  return fc.shuffledSubarray(copies, { minLength: copies.length }).map((bodies) => ({ played, bodies }));
});

describe("the income book of the example", () => {
  it("has each user's income by month and loan id, whatever comes twice, late, again or is erased (law)", async () => {
    await fc.assert(
      fc.asyncProperty(deliveries, async ({ played, bodies }) => {
        const book = new IncomeBook(":memory:");
        const read = createReader({
          memory: book.memory,
          handle: async (message) => void (await book.handle(message)),
        });
        const gone = new Set<string>();
        for (const body of bodies) {
          expect(await read(body)).toMatchObject({ settled: true });
          const { type, subject } = JSON.parse(body);
          if (type === "user.erased") gone.add(subject.replace("user/", ""));
          for (const user of gone) expect(book.incomeOf(user)).toEqual([]);
        }
        expect(users.flatMap((user) => book.incomeOf(user))).toEqual(expectedOf(played));
        book.close();
      }),
    );
  });

  it.skipIf(!runsPython)("has the same in Python", async () => {
    const cases = fc.sample(deliveries, 100);
    const answers = await askPython(cases.map(({ bodies }) => ["book", bodies] as const));
    expect(answers).toEqual(cases.map(({ played }) => expectedOf(played)));
  });
});
