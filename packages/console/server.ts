import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { exitCodes, explain } from "@income-events/cli/core/command-error.ts";
import { type Access, createAccess, refusalOf, securityHeaders } from "./access.ts";
import type { PageFile } from "./page-bundle.ts";
import { Asked, type ConsoleContext, type Route } from "./route.ts";

export type ConsoleParts = {
  readonly context: ConsoleContext;
  readonly files: ReadonlyMap<string, PageFile>;
  readonly routes: readonly Route[];
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
  server.on("request", async (request, response) => {
    const { status, type, content } = await answerTo(request, handling).catch((error: unknown) =>
      refuse(500, error instanceof Error ? error.message : String(error)),
    );
    response.writeHead(status, { ...securityHeaders, "content-type": type }).end(content);
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

type Answer = PageFile & { readonly status: number };

function answerJson(status: number, value: object): Answer {
  return { status, type: "application/json; charset=utf-8", content: JSON.stringify(value) };
}

function refuse(status: number, error: string): Answer {
  return answerJson(status, { error });
}

async function answerTo(request: IncomingMessage, handling: Handling): Promise<Answer> {
  const { method = "GET", headers, url = "/" } = request;
  const { access, port, files, onAdmitted } = handling;
  const refusal = refusalOf({ method, headers }, port);
  if (refusal !== undefined) return refuse(403, refusal);
  const { pathname, searchParams } = new URL(url, `http://127.0.0.1:${port}`);
  if (pathname === "/api/session" && method === "POST") {
    const session = access.exchange(headers);
    if (session === undefined) return refuse(401, notAdmitted);
    onAdmitted(addressOf(handling));
    return answerJson(200, { session });
  }
  if (pathname.startsWith("/api/")) {
    if (!access.isAdmitted(headers)) return refuse(401, notAdmitted);
    const route = handling.routes.find((each) => each.path === pathname && each.method === method);
    return route === undefined
      ? refuse(404, "Address not found.")
      : answerApi(request, route, searchParams, handling.context);
  }
  if (method !== "GET" && method !== "HEAD") return refuse(405, "Pages are read only.");
  // The page's files contain no secret. Every other address is a view of the page.
  const file = files.get(pathname) ?? (pathname.startsWith("/assets/") ? undefined : files.get("/"));
  return file === undefined ? refuse(404, "File not found.") : { ...file, status: 200 };
}

const notAdmitted =
  "This browser has no access. Open the address that the console printed where it was started. Each address works once.";

async function answerApi(
  request: IncomingMessage,
  route: Route,
  params: URLSearchParams,
  context: ConsoleContext,
): Promise<Answer> {
  if (route.changes === true && !context.isWritable)
    return refuse(403, "The console is read-only: start it with --write to change anything.");
  const text = await bodyOf(request);
  if (text === undefined) return refuse(413, `A body has at most ${maxBodyBytes} bytes.`);
  try {
    return answerJson(200, await route.answer(context, new Asked(params, text)));
  } catch (error) {
    const { exitCode, message } = explain(error);
    return refuse(exitCode === exitCodes.usage ? 400 : exitCode === exitCodes.nobody ? 404 : 502, message);
  }
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
