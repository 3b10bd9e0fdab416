import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { exitCodes, explain } from "@income-events/cli/core/command-error.ts";
import { type Access, createAccess, refusalOf, securityHeaders } from "./access.ts";
import type { PageFile } from "./page-bundle.ts";
import { Asked, type ConsoleContext, type Route } from "./route.ts";
import type { Tail } from "./tail.ts";

export type ConsoleParts = {
  readonly context: ConsoleContext;
  readonly files: ReadonlyMap<string, PageFile>;
  readonly routes: readonly Route[];
  readonly tail: Tail;
  /** Called with the next address whenever one was used; each admits one browser. */
  readonly onAdmitted: (address: string) => void;
};

export type ConsoleServer = AsyncDisposable & {
  readonly port: number;
  /** The address that admits one browser. */
  readonly address: () => string;
};

type Handling = ConsoleParts & { readonly port: number; readonly access: Access };

/** A pasted webhook may be as large as a real one. */
const maxBodyBytes = 2 * 1024 * 1024;

/** Serves the console on this machine only. @param port 0 for any free port */
export async function startConsole(parts: ConsoleParts, port: number): Promise<ConsoleServer> {
  const server = createServer();
  const bound = await listen(server, port);
  const handling: Handling = { ...parts, port: bound, access: createAccess() };
  server.on("request", (request, response) => {
    handle(request, response, handling).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: error instanceof Error ? error.message : String(error) });
    });
  });
  return {
    port: bound,
    address: () => addressOf(handling),
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

function addressOf({ port, access }: Handling): string {
  return `http://127.0.0.1:${port}/#token=${access.oneTimeToken()}`;
}

async function handle(request: IncomingMessage, response: ServerResponse, handling: Handling): Promise<void> {
  const { method = "GET", headers, url = "/" } = request;
  const { access, port, files, tail } = handling;
  const refusal = refusalOf({ method, headers }, port);
  if (refusal !== undefined) return sendJson(response, 403, { error: refusal });
  const { pathname, searchParams } = new URL(url, `http://127.0.0.1:${port}`);
  if (pathname.startsWith("/api/")) {
    if (pathname === "/api/session" && method === "POST") return admit(headers, response, handling);
    if (!access.isAdmitted(headers)) return sendJson(response, 401, { error: notAdmitted });
    if (pathname === "/api/tail") return tail.serve(response, searchParams.get("after") ?? undefined);
    return answerApi(request, response, { ...handling, pathname, params: searchParams });
  }
  if (method !== "GET" && method !== "HEAD")
    return sendJson(response, 405, { error: "Pages are read only." });
  // The page's files contain no secret. Every other address is a view of the page.
  const file = files.get(pathname) ?? (pathname.startsWith("/assets/") ? undefined : files.get("/"));
  if (file === undefined) return sendJson(response, 404, { error: "File not found." });
  send(response, 200, file.type, file.content);
}

const notAdmitted =
  "This browser has no access. Open the address that the console printed where it was started. Each address works once.";

function admit(headers: IncomingHttpHeaders, response: ServerResponse, handling: Handling): void {
  const session = handling.access.exchange(headers);
  if (session === undefined) {
    sendJson(response, 401, { error: notAdmitted });
    return;
  }
  sendJson(response, 200, { session });
  handling.onAdmitted(addressOf(handling));
}

type ApiCall = Handling & { readonly pathname: string; readonly params: URLSearchParams };

async function answerApi(request: IncomingMessage, response: ServerResponse, call: ApiCall): Promise<void> {
  const { routes, context, pathname, params } = call;
  const route = routes.find(({ method, path }) => path === pathname && method === request.method);
  if (route === undefined) return sendJson(response, 404, { error: "Address not found." });
  if (route.changes === true && !context.isWritable)
    return sendJson(response, 403, {
      error: "The console is read-only: start it with --write to change anything.",
    });
  const text = await bodyOf(request);
  if (text === undefined)
    return sendJson(response, 413, { error: `A body has at most ${maxBodyBytes} bytes.` });
  try {
    sendJson(response, 200, await route.answer(context, new Asked(params, text)));
  } catch (error) {
    const { exitCode, message } = explain(error);
    sendJson(response, statusOf(exitCode), { error: message });
  }
}

function statusOf(exitCode: number): number {
  if (exitCode === exitCodes.usage) return 400;
  return exitCode === exitCodes.nobody ? 404 : 502;
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const read = Buffer.from(chunk);
    bytes += read.byteLength;
    // Read to the end nevertheless, because a client whose request is cut off does not see the answer.
    if (bytes <= maxBodyBytes) chunks.push(read);
  }
  return bytes > maxBodyBytes ? undefined : Buffer.concat(chunks).toString("utf8");
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  send(response, status, "application/json; charset=utf-8", JSON.stringify(value));
}

function send(response: ServerResponse, status: number, type: string, content: string | Uint8Array): void {
  response.writeHead(status, { ...securityHeaders, "content-type": type });
  response.end(content);
}
