import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "../api/errors.ts";
import { createHttpApp } from "../api/http-app.ts";
import { describeRoutes } from "../api/openapi.ts";
import { type ControlDependencies, controlRoutes } from "./routes.ts";

/**
 * Starts the control API for the operator, which is not part of the service's interface. It has no token, so
 * it listens on loopback only, and refuses pages of other names, sites and ports.
 */
export async function startControl(port: number, dependencies: ControlDependencies) {
  const app = createHttpApp();
  refuseOtherPages(app);
  await describeRoutes(app, {
    title: "The sandbox's control address",
    description: "An operator's bench: what breaks the service on purpose and reports what happened.",
    path: "/openapi.json",
    secured: false,
  });
  controlRoutes(app, dependencies);
  return { url: await app.listen({ host: "127.0.0.1", port }), close: () => app.close() };
}

const ownNames = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Browsers send the calling page in headers; programs send none, and a typed URL has the site "none". */
function refuseOtherPages(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ headers }: FastifyRequest) => {
    const { host = "", origin, "sec-fetch-site": site = "none" } = headers;
    // A page can reach this machine through a DNS name of its own (DNS rebinding).
    if (!ownNames.has(host.replace(/:\d+$/, "")))
      throw new ApiError(403, "foreign_name", "the control address is only for this machine: use 127.0.0.1");
    const isOwnOrigin = origin === undefined || origin === `http://${host}`;
    if (!isOwnOrigin || (site !== "none" && site !== "same-origin"))
      throw new ApiError(403, "foreign_page", "the control address answers programs, and no other page");
  });
}
