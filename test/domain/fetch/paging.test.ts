import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Continuation,
  itemsIn,
  type PagingSettings,
  pageCall,
  parseContinuation,
  parsePagingSettings,
  readPage,
  shortestPage,
} from "../../../domain/fetch/paging.ts";

const cursors: PagingSettings = {
  by: "cursor",
  items: "data",
  next: "next",
  parameter: "cursor",
  maxPages: 1_000,
};
const numbers: PagingSettings = { ...cursors, by: "page", parameter: "page" };
const links: PagingSettings = { ...cursors, by: "link", next: "links.next" };

/**
 * Follows a list to its end.
 * @param answer returns a page by its request
 */
function follow(paging: PagingSettings, answer: (call: ReturnType<typeof pageCall>) => string) {
  const calls: string[] = [];
  const items: string[] = [];
  let from: Continuation | undefined;
  do {
    const call = pageCall("/list", paging, from);
    calls.push(call.link ?? call.path);
    const text = answer(call);
    const page = readPage(text, paging, from);
    if (page.items !== undefined) items.push(itemsIn(text, page.items));
    from = page.next;
  } while (from !== undefined);
  return { calls, items };
}

it("the minimum page size is one item, if it can be chosen", () => {
  expect(shortestPage("/list", cursors)).toBe("/list");
  const sized = { ...cursors, pageSize: { parameter: "limit", items: 500 } };
  expect(shortestPage("/list?x=1", sized)).toBe("/list?x=1&limit=1");
});

describe("a page is requested", () => {
  const from = { next: "a b&c", pages: 1, mark: "m" };

  it.each<
    [
      string,
      PagingSettings,
      { readonly path: string; readonly continuation: Continuation | undefined },
      object,
    ]
  >([
    ["as the path says", cursors, { path: "/list", continuation: undefined }, { path: "/list" }],
    ["with its cursor", cursors, { path: "/list", continuation: from }, { path: "/list?cursor=a+b%26c" }],
    [
      "beside a query of the path",
      cursors,
      { path: "/list?x=1", continuation: from },
      { path: "/list?x=1&cursor=a+b%26c" },
    ],
    [
      "with a page size",
      { ...cursors, pageSize: { parameter: "limit", items: 50 } },
      { path: "/list", continuation: from },
      { path: "/list?limit=50&cursor=a+b%26c" },
    ],
    [
      "by its number",
      numbers,
      { path: "/list", continuation: { ...from, next: "2" } },
      { path: "/list?page=2" },
    ],
    [
      "by its link",
      links,
      { path: "/list", continuation: { ...from, next: "/other?p=2" } },
      { path: "/list", link: "/other?p=2" },
    ],
  ])("%s", (_, paging, { path, continuation }, call) => {
    expect(pageCall(path, paging, continuation)).toEqual(call);
  });
});

describe("a list is followed", () => {
  it("by its cursors, whatever they are, to the page without one", () => {
    for (const end of ["null", "false", '""', "0"]) {
      const pages = [
        '{"data":[1],"next":"x y"}',
        '{"data":[2],"next":12345678901234567890}',
        `{"data":[3.10],"next":${end}}`,
      ];
      const { calls, items } = follow(cursors, () => pages.shift() ?? "");
      expect(calls).toEqual(["/list", "/list?cursor=x+y", "/list?cursor=12345678901234567890"]);
      expect(items).toEqual(["1", "2", "3.10"]);
    }
  });

  it("by its links, which may be in an object", () => {
    const pages = ['{"data":[1],"links":{"next":"/b"}}', '{"data":[2],"links":{}}'];
    expect(follow(links, () => pages.shift() ?? "").calls).toEqual(["/list", "/b"]);
  });

  it.each([
    ["arrays", ["[1]", "[2]", "[]"], 3],
    ["objects", ['{"data":[1]}', '{"data":[2]}', '{"data":[]}'], 3],
    ["objects that tell the end", ['{"data":[1],"next":true}', '{"data":[2],"next":false}'], 2],
  ])("by numbers until a page is empty or the last: %s", (_, pages, count) => {
    const { calls } = follow(numbers, ({ path }) => {
      const number = Number(/page=(\d+)/.exec(path)?.[1] ?? "1");
      return pages[number - 1] ?? "";
    });
    expect(calls).toEqual(["/list", "/list?page=2", "/list?page=3"].slice(0, count));
  });

  it.each([
    ["an array", "[1]", cursors],
    ["an object with another list", '{"list":[1]}', cursors],
    ["a text", '"next"', cursors],
    ["an object without a list", '{"data":{"a":1}}', numbers],
  ])("only to %s without paging information", (_, text, paging) => {
    expect(readPage(text, paging).next).toBeUndefined();
  });
});

describe("a list is given up", () => {
  const failing = (paging: PagingSettings, answer: (call: { path: string }) => string) => () =>
    follow(paging, answer);

  it("over the maximum number of pages", () => {
    let pages = 0;
    expect(
      failing({ ...cursors, maxPages: 5 }, () => {
        pages += 1;
        return `{"data":[1],"next":"${pages}"}`;
      }),
    ).toThrow("the list has over 5 pages; see provider.paging.maxPages");
    expect(pages).toBe(5);
  });

  it("if its cursors form a cycle of any length, before its third round", () => {
    fc.assert(
      fc.property(fc.nat(40), fc.integer({ min: 1, max: 40 }), (before, length) => {
        let page = -1;
        expect(
          failing(cursors, () => {
            page += 1;
            const next = page < before ? page : before + ((page - before) % length);
            return `{"data":[${page}],"next":"c${next}"}`;
          }),
        ).toThrow("the list's pages go in circles; see provider.paging");
        expect(page).toBeLessThanOrEqual(3 * (before + length) + 2);
      }),
    );
  });

  it("if a provider without page numbers repeats the first page", () => {
    let calls = 0;
    expect(
      failing(numbers, () => {
        calls += 1;
        return "[1,2]";
      }),
    ).toThrow("go in circles");
    expect(calls).toBe(2);
  });

  it.each([
    ["has a next page and no list", '{"items":[1],"next":"a"}', "provider.paging.items: finds no list"],
    ["has another thing for a cursor", '{"data":[1],"next":{"a":1}}', "provider.paging.next: expected"],
    ["has a flag for a cursor", '{"data":[1],"next":true}', "provider.paging.next: expected"],
  ])("where a page %s", (_, text, reason) => {
    expect(() => readPage(text, cursors)).toThrow(reason);
  });
});

describe("the settings of paging", () => {
  it("are read as they were written", () => {
    for (const settings of [cursors, { ...links, pageSize: { parameter: "limit", items: 10 } }]) {
      expect(parsePagingSettings(settings)).toEqual(settings);
    }
  });

  it.each([
    ["provider.paging", 5],
    ["provider.paging.by", { ...cursors, by: "magic" }],
    ["provider.paging.pageSize", { ...cursors, pageSize: 10 }],
    ["items", { ...cursors, items: "" }],
    ["maxPages", { ...cursors, maxPages: "5" }],
  ])("are refused by the name of the setting that is wrong: %s", (name, value) => {
    expect(() => parsePagingSettings(value)).toThrow(new RegExp(`^${name}: expected`));
  });
});

it("a continuation can be kept as JSON", () => {
  const { next } = readPage('{"data":[1],"next":"a"}', cursors);
  expect(parseContinuation(JSON.parse(JSON.stringify(next)))).toEqual(next);
});
