import type { BatchStatementErrorCodeEnum } from "@aws-sdk/client-dynamodb";
import { asList, asObject, parseJsonObject } from "../operation.ts";
import type { Detour } from "../types.ts";
import { batchEntries } from "./statements.ts";

/** Error of one statement in a batch. Source: DynamoDB API reference, "BatchStatementError". */
export type StatementError = {
  readonly code: BatchStatementErrorCodeEnum;
  readonly message: string;
};

/**
 * Fails statements of a batch by index; the engine applies the others, and the answer is still 200. Failing
 * every statement after one, and dropping the answer, simulates a caller that dies between two.
 */
export function failStatements(body: Buffer, failures: ReadonlyMap<number, StatementError>): Detour {
  const applied = batchEntries(body).filter((_, place) => !failures.has(place));
  const all = applied.length + failures.size;
  return {
    times: applied.length === 0 ? 0 : 1,
    body: JSON.stringify({ ...parseJsonObject(body.toString()), Statements: applied }),
    answer: (text) => {
      const answer = parseJsonObject(text);
      const responses = [...asList(answer.Responses)];
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

/** Applies only the first statements of a batch. The caller cannot tell if the answer is dropped. */
export function applyFirst(body: Buffer, count: number): Detour {
  const failure = { code: "InternalServerError", message: "The caller ended before this statement" } as const;
  const places = batchEntries(body).map((_, place) => place);
  return failStatements(body, new Map(places.slice(count).map((place) => [place, failure])));
}
