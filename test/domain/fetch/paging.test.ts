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
    const page = readPage({ text }, paging, from);
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
    expect(readPage({ text }, paging).next).toBeUndefined();
  });
});

describe("a list whose settings find no next page", () => {
  const list = '"data":[1]';
  const otherList = '"results":[{}]';
  const nested = { ...cursors, items: "data.items", next: "data.next" };

  it.each<[string, string, PagingSettings?]>([
    ["has_more", `{${list},"has_more":true}`],
    ["hasNextPage", `{"hasNextPage":true,${list}}`],
    ["has-more-items", `{${list},"has-more-items":true}`],
    ["last", `{${otherList},"last":false}`],
    ["next_cursor", `{${list},"next_cursor":"abc"}`],
    ["nextCursor", `{${otherList},"nextCursor":17}`],
    ["next_page", `{${list},"next_page":2}`],
    ["nextPageToken", `{${list},"nextPageToken":"abc"}`],
    ["next_url", `{${list},"next_url":"https://provider.example/2"}`],
    ["@odata.nextLink", '{"value":[1],"@odata.nextLink":"/2"}'],
    ["next", `{${list},"next":"/2"}`, links],
    ["links.next", `{${list},"links":{"self":"/1","next":"/2"}}`],
    ["_links.next", '{"_embedded":{"users":[{}]},"_links":{"next":{"href":"/2"}}}'],
    ["paging.next", `{"paging":{"next":"/2"},${list}}`],
    ["response_metadata.next_cursor", `{"members":[],"response_metadata":{"next_cursor":"abc"}}`],
    ["meta.pagination.links.next", `{${list},"meta":{"pagination":{"links":{"next":"/2"}}}}`],
    ["data.has_more", '{"code":0,"data":{"rows":[1],"has_more":true}}'],
    ["data.has_more", '{"data":{"items":[1],"has_more":true}}', nested],
    ["has_more", '{"data":{"items":[1]},"has_more":true}', nested],
    ["has_more", '{"has_more":true,"a":{"b":{"c":{"d":[1]}}}}', { ...cursors, items: "a.b.c.d" }],
    ["pages", `{${list},"page":1,"pages":7}`],
    ["totalPages", `{"totalPages":"2","page":"0",${otherList}}`],
    ["meta.last_page", `{${list},"meta":{"current_page":1,"last_page":3}}`],
    ["total", `{${list},"page":1,"per_page":20,"total":21}`],
    ["total_count", `{${list},"offset":0,"limit":20,"total_count":21}`],
    ["count", `{${otherList},"count":41,"pagination":{"skip":20,"limit":20}}`],
  ])("is a failure that names %s in %s", (sign, text, paging = cursors) => {
    const reason = `provider.paging.next: finds nothing in an answer whose ${sign} tells of more pages`;
    expect(() => readPage({ text }, paging)).toThrow(reason);
  });

  it.each([
    ["an explicit end", `{${list},"next":null,"has_more":true}`],
    ["an end in other words", `{${list},"has_more":false,"next_cursor":null,"next_page":"","last":true}`],
    ["a last page without a link", `{${list},"links":{"next":null},"_links":{"next":{"href":null}}}`],
    ["an empty link", `{${list},"links":{},"meta":null,"pagination":[],"paging":{"next":{}}}`],
    ["the last of its pages", `{${list},"page":7,"pages":7}`],
    ["one page counted from 0", `{${list},"page":0,"pages":1}`],
    ["one page of few items", `{${list},"page":1,"per_page":20,"total":20}`],
    ["no limit", `{${list},"offset":0,"limit":0,"total":20}`],
    ["a total without a page", `{${list},"total":1000,"size":20,"limit":100}`],
    ["pages without a page", `{${list},"pages":12}`],
    ["a bare list", '[{"has_more":true,"next_cursor":"abc"}]'],
    ["one document", '{"id":"a","has_more":true,"links":{"next":"/2"},"page":1,"pages":7}'],
    ["signs in its items", '{"data":[{"has_more":true,"links":{"next":"/2"},"page":1,"pages":7}]}'],
    ["signs in its data", '{"income":{"has_more":true,"list":[],"next_cursor":"abc"},"data":[]}'],
    ["signs far below", `{${list},"meta":{"meta":{"meta":{"meta":{"meta":{"has_more":true}}}}}}`],
    ["other things next", `{${list},"next_payday":"2026-12-01","next_of_kin":"Ann","last":"Doe"}`],
  ])("and no sign of one is complete: %s", (_, text) => {
    expect(readPage({ text }, cursors).next).toBeUndefined();
  });

  it("is followed to its end if its pages are counted from 0, or name it otherwise too", () => {
    for (const of of ['"page":1,"pages":2', '"page":2,"pages":2', '"offset":20,"limit":20,"total":40']) {
      const pages = [`{${list},"next":"a","has_more":true}`, `{${list},${of}}`];
      expect(follow(cursors, () => pages.shift() ?? "").items).toEqual(["1", "1"]);
    }
  });

  it("fails on a later page, too", () => {
    const pages = [`{${list},"next":"a"}`, `{${list},"has_more":true}`];
    expect(() => follow(cursors, () => pages.shift() ?? "")).toThrow("whose has_more tells of more pages");
  });

  it("is counted by number, so that only a missing list fails", () => {
    expect(readPage({ text: `{${list},"has_more":true}` }, numbers).next).toMatchObject({ next: "2" });
    const reason = "provider.paging.items: finds no list in an answer whose has_more tells of more pages";
    expect(() => readPage({ text: `{${otherList},"has_more":true}` }, numbers)).toThrow(reason);
  });

  it.each([
    ['<https://provider.example/list?page=2>; rel="next", </list?page=9>; rel="last"', true],
    ["</list?page=1>; rel=prev, </list?page=3>; rel=next", true],
    ['</list?page=3>; title="x"; rel="start next"', true],
    ['</list?page=9>; rel="last"', false],
    ['</next>; rel="next-archive", </next>; rel=next-archive; title="next"', false],
    ["", false],
  ])("fails if the header Link is %j: %s", (link, isMore) => {
    const read = () => readPage({ text: "[1]", link }, cursors);
    if (isMore) expect(read).toThrow("in an answer whose header Link tells of more pages");
    else expect(read().next).toBeUndefined();
    expect(readPage({ text: '{"id":1}', link }, cursors).next).toBeUndefined();
    expect(readPage({ text: "[1]", link }, numbers).next).toMatchObject({ next: "2" });
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
    expect(() => readPage({ text }, cursors)).toThrow(reason);
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
  const { next } = readPage({ text: '{"data":[1],"next":"a"}' }, cursors);
  expect(parseContinuation(JSON.parse(JSON.stringify(next)))).toEqual(next);
});
