import { permanent } from "../core/failures.ts";
import { fieldsOf, optionalText, present, textOf } from "../core/parse.ts";
import { readTime } from "../core/timestamps.ts";
import { isRawNumber, parseExact } from "../event/lossless-json.ts";
import { booleanAt, idAt, type KindMapping, type Search, textAt } from "../event/mapping.ts";
import { found } from "../event/mapping-source.ts";
import { type Continuation, type PagingSettings, readPage } from "../fetch/paging.ts";

/** JMESPath expressions that read one listed item. */
export type ListExpressions = {
  readonly id: string;
  readonly createdAt?: string;
  readonly updatedAt?: string;
  readonly connected?: string;
  readonly datasourceId?: string;
};

export type ListReader = ListExpressions & {
  /** The name of the setting in failures. */
  readonly name: string;
  readonly ids: KindMapping["ids"];
  /**
   * The path of the list in an answer, as names joined by dots. Absent if it is bare or at
   * `provider.paging.items`.
   */
  readonly items?: string;
};

/** A user or an account as the provider lists it. Times are ISO 8601. */
export type Listed = ReturnType<typeof readListed>;

/** @throws permanent failure naming the setting */
export function parseListReader(name: string, value: unknown, ids: unknown): ListReader {
  const fields = fieldsOf(value, name);
  return present<ListReader>({
    name,
    ids: ids === "any" ? "any" : "uuid",
    items: optionalText(fields, "items"),
    id: textOf(fields, "id"),
    createdAt: optionalText(fields, "createdAt"),
    updatedAt: optionalText(fields, "updatedAt"),
    connected: optionalText(fields, "connected"),
    datasourceId: optionalText(fields, "datasourceId"),
  });
}

/** A page of a list. Its items are not read yet. */
export type ListSlice = { readonly items: readonly unknown[]; readonly next: Continuation | undefined };

/** @throws permanent failure if the answer has no list at the configured path, and as `readPage` does */
export function readSlice(
  { name, items }: ListReader,
  answer: Parameters<typeof readPage>[0],
  paging: PagingSettings,
  from?: Continuation,
): ListSlice {
  const page = readPage(answer, items === undefined ? paging : { ...paging, items }, from);
  const list = page.items && parseExact(answer.text.slice(page.items.start, page.items.end), name);
  if (!Array.isArray(list)) throw permanent(`${name}.items: finds no list in the provider's answer`);
  return { items: list, next: page.next };
}

/**
 * Reads one item of a list. Ids have the same form as in events, so that both name the same user or account.
 * @throws permanent failure naming the setting, never the value
 */
export function readListed(reader: ListReader, item: unknown, search: Search) {
  const { name, ids } = reader;
  const at = (field: keyof ListExpressions) => {
    const expression = reader[field];
    return expression === undefined ? undefined : found(`${name}.${field}`, expression, item, search);
  };
  const id = idAt(`${name}.id`, at("id"), ids);
  if (id === undefined) throw permanent(`${name}.id: finds nothing in a listed item`);
  const timeAt = (field: "createdAt" | "updatedAt") => {
    const value = at(field);
    return readTime(isRawNumber(value) ? value.rawJSON : value)?.time;
  };
  return present({
    id,
    createdAt: timeAt("createdAt"),
    updatedAt: timeAt("updatedAt"),
    connected: booleanAt(`${name}.connected`, at("connected")),
    datasourceId: textAt(`${name}.datasourceId`, at("datasourceId")),
  });
}
