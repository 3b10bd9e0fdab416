import type { FastifyInstance } from "fastify";
import type { Tokens } from "../tokens.ts";
import type { Callers } from "./guard.ts";
import { describe, tokenSchema } from "./schemas.ts";

/** A new token for a valid one, under each version of the path. */
export function tokenRoutes(
  app: FastifyInstance,
  tokens: Tokens,
  callers: Callers,
  versions: readonly string[],
): void {
  const options = describe("Refresh the token", tokenSchema);
  for (const version of versions) {
    app.get(`/api/${version}/token/refresh`, options, async (request) => {
      return { token: await tokens.refresh(callers.tokenIdOf(request)) };
    });
  }
}
