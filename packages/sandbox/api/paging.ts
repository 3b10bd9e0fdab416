import type { FastifyInstance } from "fastify";
import { ApiError } from "./errors.ts";

/** `limit` requests a page, and `cursor` the page after the one that returned it. */
export type PageQuery = { readonly limit?: string; readonly cursor?: string };

const pageProperties = {
  limit: { type: "string", pattern: "^[1-9]\\d{0,3}$", description: "1 to 9999; unset: the whole list" },
  cursor: { type: "string", maxLength: 100, description: "The `next` of the page before" },
} as const;
const pagedQueries = new WeakSet<object>();

export function pagedQuerySchema(others: Readonly<Record<string, object>> = {}): object {
  const properties = { ...pageProperties, ...others };
  const schema = { type: "object", additionalProperties: false, properties };
  pagedQueries.add(schema);
  return schema;
}

export const pageQuerySchema = pagedQuerySchema();

export const cursorSchema = {
  type: ["string", "null"],
  description: "The cursor of the next page; null on the last",
} as const;

/** Pages every list, in pages of at most this size, even if none is requested. */
export function pageAlways(app: FastifyInstance, pageSize: number): void {
  app.addHook<{ Querystring: { limit?: string } }>("preHandler", async ({ query, routeOptions }) => {
    const asked = routeOptions.schema?.querystring;
    if (typeof asked !== "object" || asked === null || !pagedQueries.has(asked)) return;
    query.limit = String(Math.min(pageSize, Number(query.limit ?? pageSize)));
  });
}

export type Page<T> = { readonly items: readonly T[]; readonly next: string | null };

/** @throws 400 for an unknown cursor */
export function pageOf<T>(list: readonly T[], { limit, cursor }: PageQuery): Page<T> {
  const start = cursor === undefined ? 0 : positionOf(cursor);
  const end = start + Number(limit ?? list.length);
  return { items: list.slice(start, end), next: end < list.length ? cursorTo(end) : null };
}

export function isPaged({ limit, cursor }: PageQuery): boolean {
  return limit !== undefined || cursor !== undefined;
}

/** Returns the whole list, or the requested page with the next cursor. */
export function listAnswer<T>(list: readonly T[], query: PageQuery, show: (item: T) => object): object {
  const { items, next } = pageOf(list, query);
  return isPaged(query) ? { data: items.map(show), next } : items.map(show);
}

function cursorTo(position: number): string {
  return Buffer.from(`at ${position}`).toString("base64url");
}

function positionOf(cursor: string): number {
  const position = /^at (\d{1,9})$/.exec(Buffer.from(cursor, "base64url").toString())?.[1];
  if (position === undefined) throw new ApiError(400, "invalid_request", "cursor: is none of this list");
  return Number(position);
}
