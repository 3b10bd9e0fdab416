import type { BatchStatementErrorCodeEnum } from "@aws-sdk/client-dynamodb";
import { asObject, parseJsonObject } from "../operation.ts";
import type { Detour } from "../types.ts";
import { batchEntries } from "./statements.ts";

/** Why one statement of a batch failed. Source: DynamoDB API reference, "BatchStatementError". */
export type StatementError = {
  readonly code: BatchStatementErrorCodeEnum;
  readonly message: string;
};

/**
 * Lets statements of a batch fail, by their place in it, while the engine applies the others: the request is answered
 * with 200 all the same. With every statement after one failed, and the answer dropped, a caller dies between two.
 */
export function failStatements(body: Buffer, failures: ReadonlyMap<number, StatementError>): Detour {
  const applied = batchEntries(body).filter((_, place) => !failures.has(place));
  const all = applied.length + failures.size;
  return {
    times: applied.length === 0 ? 0 : 1,
    body: JSON.stringify({ ...parseJsonObject(body.toString()), Statements: applied }),
    answer: (text) => {
      const answer = parseJsonObject(text);
      const responses: unknown[] = Array.isArray(answer.Responses) ? [...answer.Responses] : [];
      const merged = Array.from({ length: all }, (_, place) => {
        const failure = failures.get(place);
        return failure === undefined
          ? asObject(responses.shift())
          : { Error: { Code: failure.code, Message: failure.message } };
      });
      return JSON.stringify({ ...answer, Responses: merged });
    },
  };
}

/** Applies the first statements of a batch only; of the others the caller learns nothing where the answer is dropped. */
export function applyFirst(body: Buffer, count: number): Detour {
  const failure = { code: "InternalServerError", message: "The caller ended before this statement" } as const;
  const places = batchEntries(body).map((_, place) => place);
  return failStatements(body, new Map(places.slice(count).map((place) => [place, failure])));
}
