import { permanent } from "../core/failures.ts";
import { fieldsOf, numberOf, present, textOf } from "../core/parse.ts";

export const pagingStyles = ["cursor", "page", "link"] as const;

/** How lists come in pages. Places in an answer are names joined by dots. */
export type PagingSettings = {
  /**
   * How the next page is asked for: `cursor` by what stands at `next`, `page` by counting from 1 until a page is empty
   * or has null, false, 0 or "" at `next`, `link` by the address or path at `next`.
   */
  readonly by: (typeof pagingStyles)[number];
  /** Where an object has its list. */
  readonly items: string;
  readonly next: string;
  /** The query's parameter that takes the cursor or the page's number. */
  readonly parameter: string;
  /** Unset: the provider's own. */
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
