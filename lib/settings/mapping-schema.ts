import { JMESPathError, JMESPathTypeError, search } from "@aws-lambda-powertools/jmespath";
import { Functions } from "@aws-lambda-powertools/jmespath/functions";
import { z } from "zod";
import { mostAttributes } from "../../domain/event/attributes.ts";
import { type WebhookKind, webhookEventTypes } from "../../domain/event/events.ts";
import { hasRawNumber, parseExact } from "../../domain/event/lossless-json.ts";
import { ignored, type KindMapping } from "../../domain/event/mapping.ts";
import { mergeEach, quotedInExpression } from "../../domain/event/mapping-source.ts";
import { defaultMapping } from "./default-mapping.ts";
import { choice, remedyOf, section, text } from "./setting-types.ts";

/** A JMESPath expression, compiled here so that an invalid one fails at synth and not at the first payload. */
export const expression = z
  .string({ error: remedyOf("write a JMESPath expression as a text") })
  .check(({ value, issues }) => {
    const message = faultOf(value);
    if (message !== undefined) issues.push({ code: "custom", message, input: value, continue: true });
  });

/** Added to the language's own functions. */
const customFunctions = Object.assign(new Functions(), {
  funcMergeEach: ([list, object]: readonly unknown[]) => mergeEach(list, object),
});
customFunctions.methods.add("funcMergeEach");

function faultOf(source: string): string | undefined {
  try {
    search(source, {}, { customFunctions });
    return literalFaultOf(source);
  } catch (error) {
    // A type error is caused by the empty payload used here, not by the expression.
    if (error instanceof JMESPathTypeError) return literalFaultOf(source);
    // The evaluator caches compiled expressions in an object, and mistakes "toString" for one of them.
    if (!(error instanceof JMESPathError)) return 'can\'t be compiled; write "@." before it';
    return `is no JMESPath expression: ${error.message}; correct it at that position`;
  }
}

function literalFaultOf(source: string): string | undefined {
  const [number] = Array.from(source.matchAll(quotedInExpression), ([, json = ""]) => json).filter(isInexact);
  if (number === undefined) return undefined;
  return `holds a number that is rounded, ${number}; compare to_string(<the field>) with '${number}'`;
}

function isInexact(json: string): boolean {
  try {
    return hasRawNumber(parseExact(json, "a literal"));
  } catch {
    // JMESPath takes invalid JSON for a text.
    return false;
  }
}

const secretWords =
  /auth|cookie|secret|token|signature|password|credential|session|csrf|xsrf|(^|-)((api|access|private|signing)-?key|link|jwt)($|-)/;

/** Whether a header's name suggests a credential. Such a header is never sent to a queue. */
export function mayHoldCredential(header: string): boolean {
  return secretWords.test(header.toLowerCase());
}

const namesOfTries =
  /(^|-)(attempts?|retry|retries|retried|try|tries|redelivery|redelivered|redeliveries|resend|resends|resent|delivery-count|send-count|(sent|send|sending|delivered|delivery|request)-(at|time|date|timestamp))($|-)/;
const timestamps = /^(?!.*(event|occurred|triggered|created)).*(^|-)timestamp$/;
const namesOfRequests =
  /^(date|age|via|forwarded|host|connection|user-agent|content-length|traceparent|tracestate|ce-traceparent|(x-)?request-id|x-real-ip|cf-ray|x-amzn-.*|x-forwarded-.*|x-b3-.*)$/;

/**
 * Whether a header's name suggests that its value differs between delivery attempts. In an identity or a
 * time, it would make every attempt a new event.
 */
export function changesByTry(header: string): boolean {
  const name = header.toLowerCase();
  return namesOfTries.test(name) || timestamps.test(name) || namesOfRequests.test(name);
}

const header = section({
  header: text(/^[a-z0-9!#$%&'*+.^_`|~-]+$/, "write an HTTP header's name in lower case")
    .refine((name) => !mayHoldCredential(name), {
      error: remedyOf("may hold a credential by its name, which goes to no queue; name another header"),
    })
    .refine((name) => !changesByTry(name), {
      error: remedyOf(
        "changes from try to try by its name, so that each try would be another event; name another header",
      ),
    }),
});

/** Location of a field: an expression on the body, or a header, for example of CloudEvents. */
const optionalSource = z
  .union([expression, header], {
    error: remedyOf(
      'write a JMESPath expression as a text, or {"header": "<name>"} for a header of the webhook',
    ),
  })
  .exactOptional();

const attributeName = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** User metadata to include in messages: an allow-list. */
const attributes = z
  .record(z.string(), expression, {
    error: remedyOf('write an object: {"<name>": "<JMESPath expression>"}'),
  })
  .check(({ value, issues }) => {
    const names = Object.keys(value);
    const wrong = names.find((name) => !attributeName.test(name));
    const message =
      names.length > mostAttributes
        ? `holds ${names.length} names; leave ${mostAttributes} at most`
        : `names an attribute ${JSON.stringify(wrong)}; write up to 64 of A-Z, a-z, 0-9, _, . and -, the first a letter`;
    if (names.length > mostAttributes || wrong !== undefined)
      issues.push({ code: "custom", message, input: value, continue: true });
  });

/** Mapping of one kind. Each given part replaces the default's. */
function kindSchema(kind: WebhookKind) {
  return section({
    type: optionalSource,
    types: z
      .record(z.string(), choice([...webhookEventTypes, ignored]), {
        error: remedyOf('write an object: {"<the provider\'s event name>": "<our type>"}'),
      })
      .exactOptional(),
    userId: optionalSource,
    accountId: optionalSource,
    companyAccountId: optionalSource,
    datasourceId: optionalSource,
    endpoint: optionalSource,
    eventId: optionalSource,
    time: optionalSource,
    connected: optionalSource,
    dataAvailable: optionalSource,
    dateStart: optionalSource,
    dateEnd: optionalSource,
    reason: optionalSource,
    ids: choice(["uuid", "any"]).exactOptional(),
    events: expression.exactOptional(),
    identity: choice(["body", "eventId"]).exactOptional(),
    attributes: attributes.exactOptional(),
  })
    .check(({ value: { attributes: given }, issues }) => {
      if (given === undefined || kind === "users") return;
      const message = "is of users alone, whose metadata it reads; move it to mapping.users.attributes";
      issues.push({ code: "custom", message, path: ["attributes"], input: given, continue: true });
    })
    .check(({ value: { identity, eventId }, issues }) => {
      if (identity !== "eventId" || eventId !== undefined) return;
      const message = `needs mapping.${kind}.eventId; set it to where the provider's own id of the event is`;
      issues.push({ code: "custom", message, path: ["identity"], input: identity, continue: true });
    })
    .transform((given) => ({
      ...defaultMapping[kind],
      ...given,
      ...(given.types && { types: typesOf(kind, given.types) }),
    }))
    .prefault({});
}

/** Given names replace the default's. If all are ignored they are added, because alone they would map nothing. */
function typesOf(kind: WebhookKind, given: KindMapping["types"]): KindMapping["types"] {
  const onlyIgnores = Object.values(given).every((type) => type === ignored);
  return onlyIgnores ? { ...defaultMapping[kind].types, ...given } : given;
}

/** Maps the payloads of each webhook kind to events; see `domain/event/mapping.ts`. */
export const mappingSchema = section({
  users: kindSchema("users"),
  accounts: kindSchema("accounts"),
  endpoints: kindSchema("endpoints"),
  "company-accounts": kindSchema("company-accounts"),
}).prefault({});
