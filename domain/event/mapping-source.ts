import { failureOf, permanent } from "../core/failures.ts";
import { type Fields, isFields } from "../core/parse.ts";

/** Where a field of an event stands in a webhook: a JMESPath expression on its body, or one of its headers. */
export type MappingSource = string | { readonly header: string };

/** The headers of a webhook that its mapping names, by names in lower case. No others are ever carried. */
export type MappedHeaders = Readonly<Record<string, string>>;

/** What an expression quotes: a text, a name, or JSON, which is captured. */
export const quotedInExpression = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`((?:\\.|[^`\\])*)`/gs;

/** Evaluates a JMESPath expression on a JSON value; compiled expressions are the adapter's business. */
export type Search = (expression: string, data: unknown) => unknown;

/** @returns undefined where the settings leave the field out. @throws permanent failure naming the field */
export function parseSource(fields: Fields, name: string): MappingSource | undefined {
  const value = fields[name];
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string") return value;
  if (isFields(value) && typeof value.header === "string") return { header: value.header };
  throw permanent(`${name}: expected an expression or a header`);
}

/**
 * What a source gives for a webhook; undefined where there is nothing, or null.
 * @param field named in the failure
 * @throws permanent failure
 */
export function valueAt(
  field: string,
  source: MappingSource | undefined,
  { body, headers }: { readonly body: unknown; readonly headers: MappedHeaders },
  search: Search,
): unknown {
  if (source === undefined) return undefined;
  if (typeof source === "string") return found(field, source, body, search);
  const name = source.header.toLowerCase();
  return Object.hasOwn(headers, name) ? headers[name] : undefined;
}

/** What an expression finds; undefined where there is nothing, or null. @throws permanent failure naming the field */
export function found(field: string, expression: string, data: unknown, search: Search): unknown {
  try {
    return search(expression, data) ?? undefined;
  } catch (error) {
    throw permanent(`${field}: ${failureOf(error).reason}`);
  }
}

/** CloudEvents in binary mode escape what a header can't hold as a URL does; other headers are as they are. */
export function headerText(name: string, value: string): string {
  if (!name.startsWith("ce-")) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The headers that sources read, in lower case, each once, in order. */
export function headersRead(sources: readonly unknown[]): readonly string[] {
  const names = sources.flatMap((source) =>
    isFields(source) && typeof source.header === "string" ? [source.header.toLowerCase()] : [],
  );
  return [...new Set(names)].sort();
}

/** Of a request's headers those with the names, as texts: an id is then found in an envelope as it is. */
export function pickHeaders(
  names: readonly string[],
  headers: Readonly<Record<string, string | undefined>>,
): MappedHeaders {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
      return value === undefined ? [] : [[name, headerText(name, value)]];
    }),
  );
}

const secretWords =
  /auth|cookie|secret|token|signature|password|credential|session|csrf|xsrf|(^|-)((api|access|private|signing)-?key|link|jwt)($|-)/;

/** Whether a header may hold a credential, by its name: such a header goes to no queue. */
export function mayHoldCredential(header: string): boolean {
  return secretWords.test(header.toLowerCase());
}

const namesOfTries =
  /(^|-)(attempts?|retry|retries|retried|try|tries|redelivery|redelivered|redeliveries|resend|resends|resent|delivery-count|send-count|(sent|send|sending|delivered|delivery|request)-(at|time|date|timestamp))($|-)/;
const timestamps = /^(?!.*(event|occurred|triggered|created)).*(^|-)timestamp$/;
const namesOfRequests =
  /^(date|age|via|forwarded|host|connection|user-agent|content-length|traceparent|tracestate|ce-traceparent|(x-)?request-id|x-real-ip|cf-ray|x-amzn-.*|x-forwarded-.*|x-b3-.*)$/;

/** Whether a header belongs to one try of a delivery, by its name: in an identity or a time it would make each try an event. */
export function changesByTry(header: string): boolean {
  const name = header.toLowerCase();
  return namesOfTries.test(name) || timestamps.test(name) || namesOfRequests.test(name);
}
