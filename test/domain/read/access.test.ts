import { describe, expect, it } from "vitest";
import { documentsOf, mayRead, parseReadingSubscribers, principalOf } from "../../../domain/read/access.ts";
import type { ReadRequest } from "../../../domain/read/route.ts";

const own = "111111111111";
const account = "222222222222";
const session = (role: string, of = account) => ({
  accountId: of,
  userArn: `arn:aws:sts::${of}:assumed-role/${role}/i-1`,
});
const state = (kind: "user" | "account" | "company-account"): ReadRequest => ({
  type: "state",
  subject: { kind, id: "1" },
});
const document: ReadRequest = {
  type: "document",
  subject: { kind: "account", id: "1" },
  name: { endpoint: "income" },
  wanted: {},
};
const subscriber = (
  principals: readonly string[],
  types?: readonly string[],
  granted: readonly string[] = [],
) => ({ name: "reader", principals, granted, ...(types && { types }) });

describe("who may read", () => {
  it.each([
    [account, session("any"), true],
    [`arn:aws:iam::${account}:root`, session("any"), true],
    [`arn:aws:iam::${account}:role/reader`, session("reader"), true],
    [`arn:aws:iam::${account}:role/team/reader`, session("reader"), true],
    [`arn:aws:iam::${account}:role/reader`, session("reader2"), false],
    [`arn:aws:iam::${account}:role/reader`, session("reader", "333333333333"), false],
    [
      `arn:aws:iam::${account}:user/reader`,
      { accountId: account, userArn: `arn:aws:iam::${account}:user/reader` },
      true,
    ],
    [`arn:aws:iam::${account}:user/reader`, session("reader"), false],
    [
      `arn:aws:iam::${account}:user/${account}`,
      { accountId: account, userArn: `arn:aws:iam::${account}:user/${account}` },
      true,
    ],
    [
      `arn:aws-eusc:iam::${account}:role/reader`,
      { accountId: account, userArn: `arn:aws-eusc:sts::${account}:assumed-role/reader/i-1` },
      true,
    ],
    ["arn:aws:iam::333333333333:root", session("any"), false],
    ["333333333333", session("any"), false],
  ])("is a subscriber's principal: %s for %j: %s", (principal, caller, expected) => {
    expect(mayRead(caller, document, [subscriber([principal])], own)).toBe(expected);
  });

  it("reads as the subscriber whose alias was invoked, and as no other", () => {
    const readers = [
      { ...subscriber([account], ["account.*"]), name: "accounts" },
      { ...subscriber([]), name: "all" },
    ];
    const reads = (name: string) => mayRead({ subscriber: name }, document, readers, own);
    expect([reads("all"), reads("accounts"), reads("other")]).toEqual([true, false, false]);
  });

  it.each([
    [undefined, [true, true, true, true]],
    [["account.*"], [false, true, false, false]],
    [["account.connected"], [false, true, false, false]],
    [
      ["user.*", "data.updated"],
      [true, false, false, true],
    ],
    [["company-account.deleted"], [false, false, true, false]],
  ])("reads what its filter accepts, and nothing else: %j", (types, expected) => {
    const requests = [state("user"), state("account"), state("company-account"), document];
    const readers = [subscriber([account], types)];
    expect(requests.map((request) => mayRead(session("r"), request, readers, own))).toEqual(expected);
  });

  it("of the stage's own account reads for the subscribers that name no principals, unless one names it", () => {
    const readers = [
      subscriber([], ["data.updated"]),
      subscriber([`arn:aws:iam::${own}:role/named`], ["user.*"]),
    ];
    expect(mayRead(session("any", own), document, readers, own)).toBe(true);
    expect(mayRead(session("any", own), state("user"), readers, own)).toBe(false);
    expect(mayRead(session("named", own), document, readers, own)).toBe(false);
    expect(mayRead(session("named", own), state("user"), readers, own)).toBe(true);
    expect(mayRead(session("any"), document, readers, own)).toBe(false);
  });

  it("with a grant reads what its own subscriber gets, not what all without principals get", () => {
    const readers = [
      subscriber([], ["account.*"], [`arn:aws:iam::${own}:role/team/granted`]),
      subscriber([], ["data.updated"]),
      subscriber([account], ["user.*"], [`arn:aws:iam::${own}:role/another`]),
    ];
    const requests = [state("user"), state("account"), document];
    const readBy = (role: string) =>
      requests.map((request) => mayRead(session(role, own), request, readers, own));
    expect(readBy("granted")).toEqual([false, true, false]);
    expect(readBy("another")).toEqual([true, false, false]);
    expect(readBy("any")).toEqual([false, true, true]);
  });

  it("lists a user's accounts or a document's versions if it reads what they are about", () => {
    const accounts: ReadRequest = { type: "accounts", userId: "1" };
    const versions: ReadRequest = {
      ...{ subject: { kind: "account", id: "1" } },
      type: "versions",
      name: { endpoint: "income" },
    };
    const reads = (type: string) =>
      [accounts, versions].map((request) =>
        mayRead(session("r"), request, [subscriber([account], [type])], own),
      );
    expect(["account.created", "user.created", "data.updated"].map(reads)).toEqual([
      [true, false],
      [false, false],
      [false, true],
    ]);
  });

  it("may list a state's documents if it may read any of them", () => {
    expect(documentsOf(state("account"))).toMatchObject({
      type: "document",
      subject: { kind: "account", id: "1" },
    });
    expect(documentsOf(document)).toBeUndefined();
  });

  it("is parsed from the settings and the grants, and refused by the invalid field", () => {
    const settings = [
      { name: "a", principals: [account], types: ["user.*"] },
      { name: "toString", principals: [] },
    ];
    expect(parseReadingSubscribers(settings, { a: ["arn:x"] })).toEqual([
      { ...settings[0], granted: ["arn:x"] },
      { ...settings[1], granted: [] },
    ]);
    expect(() => parseReadingSubscribers([{ name: "a" }], {})).toThrow(
      "principals: expected a list of texts",
    );
    expect(() => parseReadingSubscribers(settings, { a: "arn:x" })).toThrow("a: expected a list of texts");
    expect(() => parseReadingSubscribers(undefined, {})).toThrow("subscribers: expected a list");
  });

  it("is logged by its role, without its session", () => {
    expect(principalOf(session("reader"))).toBe(`arn:aws:sts::${account}:assumed-role/reader`);
    expect(principalOf({ subscriber: "risk" })).toBe("subscriber/risk");
  });
});
