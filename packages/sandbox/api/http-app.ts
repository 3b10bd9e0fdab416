import { AjvCompiler } from "@fastify/ajv-compiler";
import { SerializerSelector } from "@fastify/fast-json-stringify-compiler";
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifySerializerCompiler,
} from "fastify";
import { ApiError, notFound } from "./errors.ts";

const bodyLimitInBytes = 1024 * 1024;

// Requests are validated as sent: no coercion, no removed properties, no defaults.
const customOptions = { coerceTypes: false, removeAdditional: false, useDefaults: false };
const compileValidator = compileOnce(AjvCompiler()({}, { customOptions }));
const serializerOf = SerializerSelector()();
const compileSerializer: FastifySerializerCompiler<unknown> = compileOnce(({ httpStatus = "", ...route }) =>
  serializerOf({ ...route, httpStatus }),
);

/** Shares compiled schemas between routes and servers: compiling takes most of a server's start. */
function compileOnce<Route extends { readonly schema?: unknown }, Compiled>(
  compile: (route: Route) => Compiled,
): (route: Route) => Compiled {
  const known = new Map<string, Compiled>();
  return (route) => {
    const key = JSON.stringify(route.schema);
    const compiled = known.get(key) ?? compile(route);
    known.set(key, compiled);
    return compiled;
  };
}

/** Creates a server that answers every error in JSON, without a stack trace. */
export function createHttpApp(): FastifyInstance {
  const app = Fastify({
    bodyLimit: bodyLimitInBytes,
    forceCloseConnections: true,
    // For errors before routing.
    frameworkErrors: ({ statusCode = 400 }, _request, { raw }) => {
      const body = { error: "invalid_request", message: "the path is too long or wrongly encoded" };
      raw.writeHead(statusCode, { "content-type": "application/json" }).end(JSON.stringify(body));
    },
  });
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  app.addHook("preValidation", async ({ body }) => {
    if (isNestedOver(deepestNesting, body)) {
      throw new ApiError(400, "invalid_request", `the body is nested deeper than ${deepestNesting} levels`);
    }
  });
  app.setNotFoundHandler(() => {
    throw notFound("there is nothing at this path with this method");
  });
  app.setErrorHandler((error: FastifyError, _request, reply) => sendError(error, reply));
  return app;
}

/** Serializing deeper JSON would overflow the stack. */
const deepestNesting = 100;

function isNestedOver(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isNestedOver(levels - 1, part));
}

function sendError(error: FastifyError | ApiError, reply: FastifyReply) {
  if (error instanceof ApiError) {
    return reply.code(error.status).send({ error: error.code, message: error.message });
  }
  const status = error.statusCode ?? 500;
  if (status >= 500) return reply.code(500).send({ error: "internal", message: "the sandbox failed" });
  const code = status === 413 ? "too_large" : "invalid_request";
  return reply.code(status).send({ error: code, message: error.message });
}
