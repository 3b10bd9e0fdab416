import { search } from "@aws-lambda-powertools/jmespath";
import { Functions } from "@aws-lambda-powertools/jmespath/functions";
import type { JSONObject } from "@aws-lambda-powertools/jmespath/types";
import { permanent } from "../../domain/core/failures.ts";
import type { Search } from "../../domain/event/mapping.ts";

/** The language's own functions. The library finds them anew for each search, which takes longer than most searches. */
const customFunctions = new Functions();
const found = customFunctions.introspectMethods();
customFunctions.introspectMethods = () => found;

/** Evaluates JMESPath; the library keeps each expression's compiled form. */
export const jmespathSearch: Search = (expression, data) => {
  try {
    return search(expression, data as JSONObject, { customFunctions });
  } catch (error) {
    // The library's message may quote the value that an expression choked on.
    throw permanent(`mapping: ${error instanceof Error ? error.name : "an expression failed"}`);
  }
};
