import { JMESPathError, JMESPathTypeError, search } from "@aws-lambda-powertools/jmespath";
import { z } from "zod";
import { eventTypes, type Kind } from "../domain/events.ts";
import { defaultMapping } from "./default-mapping.ts";
import { choice, remedyOf, section } from "./setting-types.ts";

/** A JMESPath expression, compiled once here so that no payload is the first to find it broken. */
export const expression = z
  .string({ error: remedyOf("write a JMESPath expression as a text") })
  .check(({ value, issues }) => {
    const message = faultOf(value);
    if (message !== undefined) issues.push({ code: "custom", message, input: value });
  });

function faultOf(source: string): string | undefined {
  try {
    search(source, {});
    return undefined;
  } catch (error) {
    // A type error is about the empty payload that stood in here, not about the expression.
    if (error instanceof JMESPathTypeError) return undefined;
    if (!(error instanceof JMESPathError)) throw error;
    return `is no JMESPath expression: ${error.message}; correct it at that position`;
  }
}

const optionalExpression = expression.exactOptional();

/** The mapping of one kind: each part that is given replaces the default's. */
function kindSchema(kind: Kind) {
  return section({
    type: optionalExpression,
    types: z
      .record(z.string(), choice(eventTypes), {
        error: remedyOf('write an object: {"<the provider\'s event name>": "<our type>"}'),
      })
      .exactOptional(),
    userId: optionalExpression,
    accountId: optionalExpression,
    companyAccountId: optionalExpression,
    datasourceId: optionalExpression,
    endpoint: optionalExpression,
    eventId: optionalExpression,
    time: optionalExpression,
    connected: optionalExpression,
    dataAvailable: optionalExpression,
    dateStart: optionalExpression,
    dateEnd: optionalExpression,
    ids: choice(["uuid", "any"]).exactOptional(),
  })
    .transform((given) => ({ ...defaultMapping[kind], ...given }))
    .prefault({});
}

/** The mapping of each webhook kind from payloads to events; see `domain/mapping.ts`. */
export const mappingSchema = section({
  users: kindSchema("users"),
  accounts: kindSchema("accounts"),
  endpoints: kindSchema("endpoints"),
  "company-accounts": kindSchema("company-accounts"),
}).prefault({});
