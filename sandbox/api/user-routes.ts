import type { FastifyInstance } from "fastify";
import { formatMoment } from "../moments.ts";
import type { User, World } from "../world.ts";
import { notFound } from "./errors.ts";
import { answers, pathSchema, userSchema, usersSchema } from "./schemas.ts";

/** The users; their links and sessions are credentials and only told to the webhook. */
export function userRoutes(app: FastifyInstance, world: World): void {
  const show = (user: User) => ({
    id: user.id,
    created_at: formatMoment(user.createdAt),
    accounts_number: world.accountsOf(user.id).length,
  });
  app.get(
    "/api/v0.4/users",
    { schema: { summary: "List the users", response: answers(200, usersSchema) } },
    async () => world.users().map(show),
  );
  app.get<{ Params: { user_id: string } }>(
    "/api/v0.4/users/:user_id",
    {
      schema: { summary: "A user", params: pathSchema("user_id"), response: answers(200, userSchema) },
    },
    async ({ params }) => {
      const user = world.user(params.user_id);
      if (user === undefined) throw notFound("there is no user with this id");
      return show(user);
    },
  );
}
