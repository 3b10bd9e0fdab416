import { createHash } from "node:crypto";
import { permanent } from "../core/failures.ts";
import { type Fields, fieldsOf, numberOf, parseJson, present, textOf } from "../core/parse.ts";
import { membersOf, type Span, skipSpace, sourceAt } from "../event/json.ts";
import type { GivenData } from "./answer.ts";

export const pagingStyles = ["cursor", "page", "link"] as const;

/** How the provider pages its lists. Paths in an answer are names joined by dots. */
export type PagingSettings = ReturnType<typeof parsePagingSettings>;

/** @throws permanent failure naming the setting */
export function parsePagingSettings(value: unknown) {
  const fields = fieldsOf(value, "provider.paging");
  const by = pagingStyles.find((style) => style === fields.by);
  if (by === undefined) throw permanent(`provider.paging.by: expected ${pagingStyles.join(", ")}`);
  return present({
    /**
     * How to request the next page. `cursor`: send the value at `next`. `page`: count from 1 until a page is
     * empty or `next` is null, false, 0 or "". `link`: follow the URL or path at `next`.
     */
    by,
    /** Path of the list in an object. */
    items: textOf(fields, "items"),
    next: textOf(fields, "next"),
    /** The query parameter for the cursor or the page number. */
    parameter: textOf(fields, "parameter"),
    /** Unset: the provider's default. */
    pageSize: fields.pageSize === undefined ? undefined : parsePageSize(fields.pageSize),
    maxPages: numberOf(fields, "maxPages"),
  });
}

function parsePageSize(value: unknown) {
  const fields = fieldsOf(value, "provider.paging.pageSize");
  return { parameter: textOf(fields, "parameter"), items: numberOf(fields, "items") } as const;
}

/** The position from which to continue a list. Plain data, so that another run can resume. */
export type Continuation = ReturnType<typeof parseContinuation>;

/** @throws permanent failure naming the field */
export function parseContinuation(fields: Fields) {
  return {
    /** The cursor, the page's number, or the link. */
    next: textOf(fields, "next"),
    /** Number of pages read so far. */
    pages: numberOf(fields, "pages"),
    /** A digest of an earlier page. Reading it again means that the pages form a cycle. */
    mark: textOf(fields, "mark"),
  } as const;
}

/** One page of a list, or an answer without a list. */
export type Page = {
  /** The span of the item list in the text; undefined if there is none. */
  readonly items: Span | undefined;
  /** Undefined on the last page. */
  readonly next: Continuation | undefined;
};

/** The request for a list's first page, or for the page at a continuation. */
export function pageCall(
  path: string,
  paging: PagingSettings,
  from?: Continuation,
): { readonly path: string; readonly link?: string } {
  if (from !== undefined && paging.by === "link") return { path, link: from.next };
  const { pageSize } = paging;
  const query = new URLSearchParams();
  if (pageSize !== undefined) query.set(pageSize.parameter, String(pageSize.items));
  if (from !== undefined) query.set(paging.parameter, from.next);
  if (query.size === 0) return { path };
  return { path: `${path}${path.includes("?") ? "&" : "?"}${query}` };
}

/** The path of a list's shortest page if the page size can be chosen; otherwise of the first page. */
export function shortestPage(path: string, paging: PagingSettings): string {
  const { pageSize, ...rest } = paging;
  const short = pageSize === undefined ? rest : { ...rest, pageSize: { ...pageSize, items: 1 } };
  return pageCall(path, short).path;
}

type Answer = Pick<GivenData, "text" | "link">;

/**
 * Reads a page.
 * @param from the continuation that requested it; undefined for the first page
 * @throws permanent failure naming the setting: an invalid page, too many pages, a cycle of pages, or signs of more
 * pages that the settings don't find
 */
export function readPage(answer: Answer, paging: PagingSettings, from?: Continuation): Page {
  const { text } = answer;
  const items = listIn(text, paging.items);
  const next = nextOf(answer, items, paging, from);
  if (next === undefined) return { items, next };
  if (items === undefined) {
    throw permanent("provider.paging.items: finds no list in an answer that has a next page");
  }
  return { items, next: goOn(text, next, paging, from) };
}

/** The text of a page's items, without the brackets. */
export function itemsIn(text: string, { start, end }: Span): string {
  return text.slice(start + 1, end - 1).trim();
}

/** A top-level array is the list itself. */
function listIn(text: string, path: string): Span | undefined {
  const whole = sourceAt(text, "");
  const span = whole !== undefined && text[whole.start] === "[" ? whole : sourceAt(text, path);
  return span !== undefined && text[span.start] === "[" ? span : undefined;
}

/** Values at `next` on the last page. */
const ends = ["null", "false", '""', "0"];

function nextOf(
  answer: Answer,
  items: Span | undefined,
  paging: PagingSettings,
  from: Continuation | undefined,
): string | undefined {
  const { text } = answer;
  const { by, next: path } = paging;
  const span = sourceAt(text, path);
  const source = span === undefined ? undefined : text.slice(span.start, span.end);
  const isLast = source !== undefined && ends.includes(source);
  // With `by: page`, a list that was found is read until a page is empty.
  const seemsLast = source === undefined && (by !== "page" || items === undefined);
  const sign = seemsLast ? signOfMore(answer, items, paging, from) : undefined;
  if (sign !== undefined) {
    const setting = by === "page" ? "items: finds no list" : "next: finds nothing";
    throw permanent(`provider.paging.${setting} in an answer whose ${sign} tells of more pages`);
  }
  if (by === "page") {
    const isEmpty = items === undefined || itemsIn(text, items) === "";
    return isLast || isEmpty ? undefined : String((from?.pages ?? 0) + 2);
  }
  if (source === undefined || isLast) return undefined;
  // Return a number's source to keep all its digits.
  if (/^[-\d]/.test(source)) return source;
  const value = parseJson(source, "the provider's answer");
  if (typeof value !== "string") throw permanent("provider.paging.next: expected a text or a number there");
  return value;
}

// Names of fields, in lower case without "_" and "-".
/** Objects that may hold a list or its paging information. */
const containers = /^(?:embedded|links|meta(?:data)?|pag(?:e|er|ing|ination)(?:info)?|responsemetadata)$/;
/** Nesting of the objects that are searched. */
const deepestContainer = 3;
const nextNames = /^(?:@odata\.)?next(?:page)?(?:cursor|href|link|number|offset|token|ur[il])?$/;
const flagsOfMore = /^has(?:more|next)(?:pages?|items|results)?$/;
const flagsOfEnd = /^(?:is)?last(?:page)?$/;
const counts = {
  page: /^(?:page|currentpage|pagenumber)$/,
  pages: /^(?:pages|totalpages|pagecount|lastpage)$/,
  offset: /^(?:offset|skip)$/,
  limit: /^(?:limit|perpage|pagesize)$/,
  total: /^(?:total(?:count|elements|items|results)?|count)$/,
};

const nextLink = /;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next[\s"]|next(?![\w-]))/i;

type Field = { readonly path: string; readonly name: string; readonly source: string };

/** Finds a well-known sign that a list has more pages. @returns its place in the answer */
function signOfMore(
  { text, link }: Answer,
  list: Span | undefined,
  { items }: PagingSettings,
  from: Continuation | undefined,
): string | undefined {
  const start = skipSpace(text, 0);
  const fields = text[start] === "{" ? [...fieldsAround(text, start, items.split("."))] : [];
  if (list !== undefined && nextLink.test(link ?? "")) return "header Link";
  if (list === undefined && !fields.some(({ source }) => source.startsWith("["))) return undefined;
  return fields.find(isSign)?.path ?? countsOfMore(fields, (from?.pages ?? 0) + 1);
}

/** The fields of an object and of its containers, and on the path to the list. */
function* fieldsAround(
  text: string,
  start: number,
  [inner, ...others]: readonly string[],
  around: readonly string[] = [],
): Generator<Field> {
  for (const member of membersOf(text, start)) {
    const source = text.slice(member.value.start, member.value.end);
    const name = member.name.replaceAll(/[_-]/g, "").toLowerCase();
    const path = [...around, member.name];
    yield { path: path.join("."), name, source };
    if (!source.startsWith("{") || path.length > deepestContainer) continue;
    if (member.name === inner) yield* fieldsAround(text, member.value.start, others, path);
    else if (containers.test(name)) yield* fieldsAround(text, member.value.start, [], path);
  }
}

function isSign({ name, source }: Field): boolean {
  if (flagsOfMore.test(name)) return source === "true";
  if (flagsOfEnd.test(name)) return source === "false";
  if (!nextNames.test(name)) return false;
  const span = sourceAt(source, source.startsWith("{") ? "href" : "");
  const value = span === undefined ? "null" : source.slice(span.start, span.end);
  return !ends.includes(value) && !/^[[{]/.test(value);
}

/** @param read number of pages read so far, because pages may be counted from 0 or 1 */
function countsOfMore(fields: readonly Field[], read: number): string | undefined {
  const find = (of: keyof typeof counts) => {
    const isCount = ({ name, source }: Field) => counts[of].test(name) && /^"?\d{1,15}"?$/.test(source);
    const field = fields.find(isCount);
    return field && { path: field.path, count: Number(field.source.replaceAll('"', "")) };
  };
  const limit = find("limit")?.count || Number.NaN;
  const page = find("page")?.count ?? (find("offset")?.count ?? Number.NaN) / limit + 1;
  const [pages, total] = [find("pages"), find("total")];
  const last = pages?.count ?? (total?.count ?? Number.NaN) / limit;
  return page < last && read < last ? (pages ?? total)?.path : undefined;
}

/**
 * Detects cycles while remembering one page. The mark is replaced at each power of two (Brent's algorithm),
 * so that a cycle is found before its third repetition.
 */
function goOn(
  text: string,
  next: string,
  { by, maxPages }: PagingSettings,
  from?: Continuation,
): Continuation {
  const pages = (from?.pages ?? 0) + 1;
  if (pages >= maxPages) {
    throw permanent(`the list has over ${maxPages} pages; see provider.paging.maxPages`);
  }
  // Page numbers never repeat, so compare the page itself.
  const mark = createHash("sha256")
    .update(by === "page" ? text : next)
    .digest("base64url");
  if (mark === from?.mark) throw permanent("the list's pages go in circles; see provider.paging");
  const isPowerOfTwo = (pages & (pages - 1)) === 0;
  return { next, pages, mark: isPowerOfTwo || from === undefined ? mark : from.mark };
}
