import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";

export type Description = {
  readonly title: string;
  readonly description: string;
  readonly path: string;
  readonly secured: boolean;
};

/** Describes every route added from here on, as OpenAPI 3.1 from its schemas. */
export async function describeRoutes(app: FastifyInstance, about: Description): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: about.title,
        description: about.description,
        version: "1.0.0",
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: "/" }],
      ...(about.secured
        ? {
            components: {
              securitySchemes: { token: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
            },
            security: [{ token: [] }],
          }
        : { security: [] }),
    },
    transform: ({ schema, url, route }) => {
      return { schema: { ...schema, operationId: operationId(String(route.method), url) }, url };
    },
  });
  app.get(about.path, { schema: { hide: true } }, async () => app.swagger());
}

/** `GET /api/v0.4/users/:user_id` is `getApiV04UsersUserId`. */
function operationId(method: string, url: string): string {
  const words = url.split(/[^A-Za-z0-9.]+/).map((word) => word.replaceAll(".", ""));
  return method.toLowerCase() + words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
}
