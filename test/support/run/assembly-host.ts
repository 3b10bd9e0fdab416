import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { closeServer, listen } from "@income-events/local-stack/http-server.ts";
import type { TestProject } from "vitest/node";
import { fieldsOf, parseJson, textOf } from "../../../domain/core/parse.ts";
import { type ProductAssembly, synthesizeProduct } from "../product-assembly.ts";

declare module "vitest" {
  interface ProvidedContext {
    /**
     * URL where `POST` of `{stage, changes}` returns `{directory}`, an assembly that all files of the run
     * share.
     */
    assemblyHost: string;
  }
}

/** Vitest's global setup: synthesizes each stage once per run, on first use. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const known = new Map<string, Promise<ProductAssembly>>();
  const assemblyOf = (request: string) => {
    const fields = fieldsOf(parseJson(request, "the request"), "the request");
    const assembly =
      known.get(request) ?? synthesizeProduct(textOf(fields, "stage"), fieldsOf(fields.changes, "changes"));
    known.set(request, assembly);
    return assembly;
  };
  const server = createServer((request, response) => {
    const answer = (status: number, content: object) =>
      response.writeHead(status).end(JSON.stringify(content));
    textOfBody(request)
      .then(assemblyOf)
      .then(
        ({ directory }) => answer(200, { directory }),
        (error: unknown) => answer(500, { error: String(error) }),
      );
  });
  const port = await listen(server);
  project.provide("assemblyHost", `http://127.0.0.1:${port}`);
  return async () => {
    await closeServer(server);
    for (const assembly of known.values())
      await (await assembly.catch(() => undefined))?.[Symbol.asyncDispose]();
  };
}

async function textOfBody(request: IncomingMessage): Promise<string> {
  return (await buffer(request)).toString("utf8");
}
