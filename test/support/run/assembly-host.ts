import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import type { TestProject } from "vitest/node";
import { fieldsOf, parseJson, textOf } from "../../../domain/core/parse.ts";
import { type ProductAssembly, synthesizeProduct } from "../../../scripts/product-assembly.ts";

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
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port for the assemblies' host");
  project.provide("assemblyHost", `http://127.0.0.1:${address.port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    for (const assembly of known.values())
      await (await assembly.catch(() => undefined))?.[Symbol.asyncDispose]();
  };
}

async function textOfBody(request: IncomingMessage): Promise<string> {
  return (await buffer(request)).toString("utf8");
}
