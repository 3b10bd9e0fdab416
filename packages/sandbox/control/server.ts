import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "../api/errors.ts";
import { createHttpApp } from "../api/http-app.ts";
import { describeRoutes } from "../api/openapi.ts";
import { type Clock, isAdjustable } from "../clock.ts";
import { type Environment, urlOf } from "../environment.ts";
import { actionRoutes } from "./action-routes.ts";
import type { Choose } from "./choose.ts";
import { logRoutes } from "./log-routes.ts";

export type ControlDependencies = {
  readonly sandbox: Environment;
  readonly production?: Environment;
  readonly clock: Clock;
  readonly advance: (seconds: number) => Promise<void>;
};

/**
 * Starts the control address: the operator's bench, and no part of the service's interface. It has no token, so it
 * listens on the loopback interface and answers nobody who came to it under another name.
 */
export async function startControl(port: number, dependencies: ControlDependencies) {
  const { sandbox, production, clock, advance } = dependencies;
  const app = createHttpApp();
  refuseForeignNames(app);
  await describeRoutes(app, {
    title: "The sandbox's control address",
    description: "An operator's bench: what breaks the service on purpose and reports what happened.",
    path: "/openapi.json",
    secured: false,
  });
  const choose: Choose = (name = "sandbox") => {
    if (name === "sandbox") return sandbox;
    if (production === undefined) {
      throw new ApiError(409, "not_running", "the production environment is not running");
    }
    return production;
  };
  actionRoutes(app, choose, {
    now: () => clock.now(),
    advance: async (seconds) => {
      if (!isAdjustable(clock)) throw new ApiError(409, "fixed_clock", "this sandbox's clock can't be moved");
      await advance(seconds);
    },
  });
  logRoutes(app, choose);
  await app.listen({ host: "127.0.0.1", port });
  return { url: urlOf(app.server.address()), close: () => app.close() };
}

const ownNames = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** A web page that the operator has open could otherwise reach this address through a name of its own. */
function refuseForeignNames(app: FastifyInstance): void {
  app.addHook("onRequest", async (request: FastifyRequest) => {
    const name = request.headers.host?.replace(/:\d+$/, "") ?? "";
    const { origin } = request.headers;
    if (ownNames.has(name) && (origin === undefined || ownNames.has(URL.parse(origin)?.hostname ?? "")))
      return;
    throw new ApiError(403, "foreign_name", "the control address is only for this machine: use 127.0.0.1");
  });
}
