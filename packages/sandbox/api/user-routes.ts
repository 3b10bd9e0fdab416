import type { FastifyInstance } from "fastify";
import type { User } from "../accounts.ts";
import type { ProviderModel } from "../provider-model.ts";
import type { Shapes } from "../shapes.ts";
import { formatTimestamp } from "../timestamps.ts";
import { notFound } from "./errors.ts";
import { listAnswer, type PageQuery, pageQuerySchema } from "./paging.ts";
import { answers, pathSchema, userSchema, usersSchema } from "./schemas.ts";
import { answer } from "./shaped-answer.ts";

/** The users; their names, links and sessions are not shown: links and sessions are credentials. */
export function userRoutes(app: FastifyInstance, model: ProviderModel, shapes: Shapes): void {
  const show = (user: User) => ({
    id: user.id,
    created_at: formatTimestamp(user.createdAt),
    accounts_number: model.accountsOf(user.id).length,
  });
  app.get<{ Querystring: PageQuery }>(
    "/api/v0.4/users",
    {
      schema: {
        summary: "List the users",
        querystring: pageQuerySchema,
        response: answers(200, usersSchema),
      },
    },
    async ({ query }) => listAnswer(model.users(), query, show),
  );
  app.get<{ Params: { user_id: string } }>(
    "/api/v0.4/users/:user_id",
    {
      schema: { summary: "Show a user", params: pathSchema("user_id"), response: answers(200, userSchema) },
    },
    async ({ params }, reply) => {
      const user = model.user(params.user_id);
      if (user === undefined) throw notFound("there is no user with this id");
      return answer(reply, shapes, "user-answer", show(user));
    },
  );
}
