import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { bodyOf, closeServer, keepAliveTimeout, listen } from "@income-events/local-stack/http-server.ts";

export type ProviderRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

type Content = {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly json?: unknown;
  readonly text?: string;
};

/** An answer: a status alone, content (with 200), or a function that writes the response. */
export type ProviderAnswer = number | Content | ((response: ServerResponse) => void);

export type TestProvider = {
  readonly url: string;
  readonly requests: ProviderRequest[];
  /** Sets the answers, for example by path or by number of calls. */
  answer: (request: ProviderRequest, count: number) => ProviderAnswer | Promise<ProviderAnswer>;
  readonly close: () => Promise<void>;
};

/** Starts an HTTP server in the provider's place that answers as a test tells it. */
export async function startTestProvider(): Promise<TestProvider> {
  const requests: ProviderRequest[] = [];
  const server = createServer({ keepAliveTimeout }, async (message, response) => {
    const body = String(await bodyOf(message));
    const { method = "", url: path = "", headers } = message;
    const request = { method, path, headers, body };
    requests.push(request);
    try {
      write(response, await provider.answer(request, requests.length));
    } catch {
      response.destroy();
    }
  });
  const port = await listen(server);
  const provider: TestProvider = {
    url: `http://127.0.0.1:${port}`,
    requests,
    answer: () => 500,
    close: () => closeServer(server),
  };
  return provider;
}

function write(response: ServerResponse, answer: ProviderAnswer): void {
  if (typeof answer === "function") {
    answer(response);
    return;
  }
  const content: Content = typeof answer === "number" ? { status: answer, text: "" } : answer;
  const { status = 200, headers, json, text = JSON.stringify(json) } = content;
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
}
