import type { FastifyInstance } from "fastify";
import type { User } from "../accounts.ts";
import type { ProviderModel } from "../provider-model.ts";
import { answer, type Shapes } from "../shapes.ts";
import { formatTimestamp } from "../timestamps.ts";
import { notFound } from "./errors.ts";
import { listAnswer, type PageQuery, pageQuerySchema } from "./paging.ts";
import { describe, pathSchema, userSchema, usersSchema } from "./schemas.ts";

/** The users; their names, links and sessions are not shown: links and sessions are credentials. */
export function userRoutes(app: FastifyInstance, model: ProviderModel, shapes: Shapes): void {
  const show = (user: User) => ({
    id: user.id,
    ...(user.metadata && { metadata: user.metadata }),
    created_at: formatTimestamp(user.createdAt),
    accounts_number: model.accountsOf(user.id).length,
  });
  app.get<{ Querystring: PageQuery }>(
    "/api/v0.4/users",
    describe("List the users", usersSchema, { querystring: pageQuerySchema }),
    async ({ query }) => listAnswer(model.users(), query, show),
  );
  app.get<{ Params: { user_id: string } }>(
    "/api/v0.4/users/:user_id",
    describe("Show a user", userSchema, { params: pathSchema("user_id") }),
    async ({ params }, reply) => {
      const user = model.user(params.user_id);
      if (user === undefined) throw notFound("there is no user with this id");
      return answer(reply, shapes, "user-answer", show(user));
    },
  );
}
