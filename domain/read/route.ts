import { hasFunctionUrls } from "../core/regions.ts";
import { parseTimestamp } from "../core/timestamps.ts";
import { endpointName } from "../event/events.ts";
import type { Subject } from "../event/subjects.ts";
import { type DataName, rangeOf } from "../fetch/document.ts";
import { collections } from "../message/document-reference.ts";
import { badRequest, notFound, type Problem, problem } from "./problem.ts";

export const readingModes = ["url", "invoke", "none"] as const;
/** How subscribers read documents: by a function URL, by invoking a function, or only in their messages. */
export type ReadingMode = (typeof readingModes)[number];

/** @param region undefined if it is known only at deploy time */
export function readingModeIn(region: string | undefined, chosen?: ReadingMode): ReadingMode {
  return chosen ?? (region === undefined || hasFunctionUrls(region) ? "url" : "invoke");
}

/** The requested version: the newest, an exact one, or the one known at a time (milliseconds since 1970). */
export type VersionWanted = { readonly version?: number; readonly asOf?: number };

export type ReadRequest =
  | { readonly type: "state"; readonly subject: Subject }
  | { readonly type: "accounts"; readonly userId: string }
  | { readonly type: "versions"; readonly subject: Subject; readonly name: DataName }
  | {
      readonly type: "document";
      readonly subject: Subject;
      readonly name: DataName;
      readonly wanted: VersionWanted;
    };

/** Limit of the table's keys, minus room for the rest of the key. */
const longestIdInBytes = 1_024;

/**
 * Parses a request's path and query. Path segments are those of a message's `subject`, percent-encoded again.
 * @param path percent-encoded, as sent
 */
export function routeOf(method: string, path: string, query: URLSearchParams): ReadRequest | Problem {
  if (method !== "GET" && method !== "HEAD")
    return problem("method-not-allowed", "Only GET and HEAD are answered.");
  const [root, version, collection, ...parts] = path.split("/").map(decode);
  const kind = (["user", "account", "company-account"] as const).find(
    (each) => collections[each] === collection,
  );
  if (root !== "" || version !== "v1" || kind === undefined) return notFound;
  const [part, resource, endpoint, ...rest] = parts.map((each) => each && decode(each));
  if (part === undefined || part === "" || rest.length > 2) return notFound;
  if (Buffer.byteLength(part) > longestIdInBytes)
    return badRequest("id", `is longer than ${longestIdInBytes} bytes`);
  const subject = { kind, id: part };
  if (resource === undefined) return { type: "state", subject };
  if (kind === "user" && resource === "accounts" && endpoint === undefined)
    return { type: "accounts", userId: part };
  if (kind === "user" || resource !== "documents" || endpoint === undefined) return notFound;
  return documentRoute(subject, [endpoint, ...rest], query);
}

/** Path segment after a document's name that lists its versions. */
export const versionsPart = "versions";

function documentRoute(
  subject: Subject,
  parts: readonly string[],
  query: URLSearchParams,
): ReadRequest | Problem {
  const isList = parts.length > 1 && parts.at(-1) === versionsPart;
  const [endpoint = "", range, ...rest] = isList ? parts.slice(0, -1) : parts;
  if (rest.length > 0) return notFound;
  if (!endpointName.test(endpoint)) return badRequest("endpoint", "is no name of an endpoint");
  const [dateStart, dateEnd] = range?.split("..") ?? [];
  const dates =
    dateStart === undefined || dateEnd === undefined ? undefined : rangeOf({ dateStart, dateEnd });
  if (range !== undefined && dates === undefined)
    return badRequest("range", "is not of the form FIRST..LAST, of two dates");
  const name = dates === undefined ? { endpoint } : { endpoint, range: dates };
  if (isList) {
    const [unknown] = query.keys();
    return unknown === undefined
      ? { type: "versions", subject, name }
      : badRequest(unknown.slice(0, 64), "is no parameter of a list of versions");
  }
  const wanted = wantedOf(query);
  return "status" in wanted ? wanted : { type: "document", subject, name, wanted };
}

/** Whether a document's current version is the requested one. @param announced the current version */
export function isWanted({ version, asOf }: VersionWanted, announced: number): boolean {
  if (version !== undefined) return version === announced;
  return asOf === undefined || announced <= asOf;
}

/** Parses a message's `data.document.version`; undefined if it is not a number. */
export function parseVersion(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function wantedOf(query: URLSearchParams): VersionWanted | Problem {
  const unknown = [...query.keys()].find((name) => name !== "version" && name !== "asOf");
  if (unknown !== undefined)
    return badRequest(unknown.slice(0, 64), "is no parameter; write version or asOf");
  const [version, asOf] = [query.get("version"), query.get("asOf")];
  if (query.size > 1) return badRequest("version", "stands beside another parameter; write one");
  if (version !== null) {
    const number = parseVersion(version);
    return number === undefined
      ? badRequest("version", "is no version: write the digits of a message's data.document.version")
      : { version: number };
  }
  if (asOf === null) return {};
  const time = parseTimestamp(asOf);
  return time === undefined
    ? badRequest("asOf", "is no time; write one as 2026-10-01T00:00:00Z")
    : { asOf: Date.parse(time) };
}

/** Returns a part that can't be decoded unchanged; it will not be found. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
