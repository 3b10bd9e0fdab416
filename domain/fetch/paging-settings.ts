import { permanent } from "../core/failures.ts";
import { fieldsOf, numberOf, present, textOf } from "../core/parse.ts";

export const pagingStyles = ["cursor", "page", "link"] as const;

/** How the provider pages its lists. Paths in an answer are names joined by dots. */
export type PagingSettings = {
  /**
   * How to request the next page. `cursor`: send the value at `next`. `page`: count from 1 until a page is
   * empty or `next` is null, false, 0 or "". `link`: follow the URL or path at `next`.
   */
  readonly by: (typeof pagingStyles)[number];
  /** Path of the list in an object. */
  readonly items: string;
  readonly next: string;
  /** The query parameter for the cursor or the page number. */
  readonly parameter: string;
  /** Unset: the provider's default. */
  readonly pageSize?: { readonly parameter: string; readonly items: number };
  readonly maxPages: number;
};

/** @throws permanent failure naming the setting */
export function parsePagingSettings(value: unknown): PagingSettings {
  const fields = fieldsOf(value, "provider.paging");
  const by = pagingStyles.find((style) => style === fields.by);
  if (by === undefined) throw permanent(`provider.paging.by: expected ${pagingStyles.join(", ")}`);
  return present<PagingSettings>({
    by,
    items: textOf(fields, "items"),
    next: textOf(fields, "next"),
    parameter: textOf(fields, "parameter"),
    pageSize: fields.pageSize === undefined ? undefined : parsePageSize(fields.pageSize),
    maxPages: numberOf(fields, "maxPages"),
  });
}

function parsePageSize(value: unknown): NonNullable<PagingSettings["pageSize"]> {
  const fields = fieldsOf(value, "provider.paging.pageSize");
  return { parameter: textOf(fields, "parameter"), items: numberOf(fields, "items") };
}
