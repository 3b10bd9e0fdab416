import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bodyOf, closeServer, listen } from "@income-events/local-stack/http-server.ts";
import type { Environment } from "@income-events/sandbox/environment.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "@income-events/sandbox/server.ts";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { onTestFinished } from "vitest";

/** Longer than a sender keeps an idle connection, so that the server never closes first. */
const keepAliveTimeout = 120_000;

export type Received = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

/** A webhook receiver; `answer` decides the status of the nth call, counted from 0. */
export async function startReceiver(
  answer: (call: Received, index: number) => number | "hang" | "reset" = () => 200,
) {
  const received: Received[] = [];
  const server = createServer({ keepAliveTimeout }, async (request, response) => {
    const { method = "", url: path = "", headers } = request;
    const call = { method, path, headers, body: (await bodyOf(request)) ?? Buffer.of() };
    received.push(call);
    const status = answer(call, received.length - 1);
    if (status === "reset") request.socket.destroy();
    else if (status !== "hang") response.writeHead(status).end();
  });
  const port = await listen(server);
  onTestFinished(() => closeServer(server));
  return { url: `http://127.0.0.1:${port}/hook`, received };
}

/** A sandbox that is closed with the test. Its first retry comes after 5 ms. */
export async function sandboxFor(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ delivery: { firstRetryMs: 5, maxRetryMs: 20 }, ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** A directory that is removed with the test. */
export async function directoryForTest(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "sandbox-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

export type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown };

type CallOptions = {
  method?: string;
  json?: unknown;
  body?: string;
  headers?: Record<string, string>;
  /** False for answers with a changed shape. */
  asDescribed?: boolean;
};

/** Calls the sandbox with its initial token or other headers. Answers must match their description. */
export async function call(sandbox: Environment, path: string, init: CallOptions = {}): Promise<Answer> {
  const { method = "GET", json, body, headers = { authorization: `Bearer ${sandbox.token}` } } = init;
  const content = json === undefined ? body : JSON.stringify(json);
  const response = await fetch(`${sandbox.baseUrl}${path}`, {
    method,
    headers: content === undefined ? headers : { "content-type": "application/json", ...headers },
    ...(content === undefined ? {} : { body: content }),
  });
  const answer: unknown = await response.json();
  if (init.asDescribed !== false) {
    checkAnswer(sandbox.openapi(), { method, path, status: response.status, body: answer });
  }
  return { status: response.status, headers: response.headers, body: answer };
}

export const webhookPaths = {
  users: "/api/v0.3/webhooks/users",
  accounts: "/api/v0.3/webhooks/accounts",
  endpoints: "/api/v0.3/webhooks/endpoints",
  "company-accounts": "/api/company/v0.5/webhooks/accounts",
} as const;

/** Registers all four webhooks at one URL; the kind is the last part of its path. */
export async function registerAll(sandbox: Environment, url: string, headers: Record<string, string> = {}) {
  for (const [kind, path] of Object.entries(webhookPaths)) {
    const answer = await call(sandbox, path, {
      method: "PUT",
      json: { url: `${url}/${kind}`, method: "POST", headers },
    });
    if (answer.status !== 200) throw new Error(`${kind}: ${answer.status}`);
  }
}

/** A sandbox whose webhooks all go to one receiver; `answer` as in {@link startReceiver}. */
export async function receivingSandbox(
  options?: SandboxOptions,
  answer?: Parameters<typeof startReceiver>[0],
) {
  const { url, received } = await startReceiver(answer);
  const sandbox = await sandboxFor(options);
  await registerAll(sandbox, url);
  return { sandbox, received };
}

/** A sandbox with its control address, and calls to that. Answers must match their description. */
export async function benchFor(options: SandboxOptions = {}) {
  const sandbox = await sandboxFor({ controlPort: 0, ...options });
  const description: unknown = await (await fetch(`${sandbox.control}/openapi.json`)).json();
  const send = async (method: string, path: string, json?: unknown): Promise<Answer> => {
    const response = await fetch(`${sandbox.control}${path}`, {
      method,
      ...(json === undefined
        ? {}
        : { body: JSON.stringify(json), headers: { "content-type": "application/json" } }),
    });
    const body: unknown = await response.json();
    checkAnswer(description, { method, path, status: response.status, body });
    return { status: response.status, headers: response.headers, body };
  };
  return { sandbox, send };
}

/** Like `benchFor`, with a receiver of all webhooks. */
export async function receivingBench(options?: SandboxOptions, answer?: Parameters<typeof startReceiver>[0]) {
  const { url, received } = await startReceiver(answer);
  const bench = await benchFor(options);
  await registerAll(bench.sandbox, url);
  return { ...bench, received };
}

export function jsonOf(received: Received): Record<string, unknown> {
  const value: unknown = JSON.parse(received.body.toString());
  if (typeof value !== "object" || value === null) throw new Error("the body is no JSON object");
  return { ...value };
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

type Described = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
};

const schemas = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(schemas);

/**
 * Checks an answer against an OpenAPI description: path, method, status and body. Undescribed calls (an
 * unknown path, another method) must be answered with a 4xx error.
 */
export function checkAnswer(description: unknown, { method, path, status, body }: Described): void {
  const place = `${method} ${path} ${status}`;
  const operation = operationAt(description, method, path);
  if (operation === undefined) {
    if (status < 400 || status > 499) throw new Error(`${place}: this route is not described`);
    return;
  }
  const responses = fieldsOf(operation.responses);
  const response = responses[String(status)] ?? responses[`${String(status).slice(0, 1)}XX`];
  if (response === undefined) throw new Error(`${place}: this status is not described`);
  const schema = fieldsOf(fieldsOf(fieldsOf(fieldsOf(response).content)["application/json"]).schema);
  if (!schemas.validate(schema, body)) throw new Error(`${place}: ${schemas.errorsText()}`);
}

function operationAt(description: unknown, method: string, path: string): Fields | undefined {
  const [bare = ""] = path.split("?", 1);
  const paths = Object.entries(fieldsOf(fieldsOf(description).paths));
  const found = paths
    .filter(([template]) => matches(template, bare))
    // A path with fewer parameters is more specific.
    .sort(([one], [other]) => one.split("{").length - other.split("{").length)[0];
  const operation = fieldsOf(found?.[1])[method.toLowerCase()];
  return operation === undefined ? undefined : fieldsOf(operation);
}

function matches(template: string, path: string): boolean {
  const parts = template.split("/");
  const given = path.split("/");
  return (
    parts.length === given.length &&
    parts.every((part, index) => part.startsWith("{") || part === given[index])
  );
}
