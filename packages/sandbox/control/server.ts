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
 * listens on the loopback interface, and answers no page that another name, site or port has served.
 */
export async function startControl(port: number, dependencies: ControlDependencies) {
  const { sandbox, production, clock, advance } = dependencies;
  const app = createHttpApp();
  refuseOtherPages(app);
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

/** A browser names the page that calls in headers; programs send none, and an address that is typed has the site "none". */
function refuseOtherPages(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ headers }: FastifyRequest) => {
    const { host = "", origin, "sec-fetch-site": site = "none" } = headers;
    // A page can reach this machine through a name of its own (DNS rebinding).
    if (!ownNames.has(host.replace(/:\d+$/, "")))
      throw new ApiError(403, "foreign_name", "the control address is only for this machine: use 127.0.0.1");
    const isOwnOrigin = origin === undefined || origin === `http://${host}`;
    if (!isOwnOrigin || (site !== "none" && site !== "same-origin"))
      throw new ApiError(403, "foreign_page", "the control address answers programs, and no other page");
  });
}
