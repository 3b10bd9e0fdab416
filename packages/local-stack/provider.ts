import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** Longer than a caller keeps an idle connection: closed in its face, it would have to call again. */
const keepAliveTimeout = 120_000;

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

/** An answer: a status alone, content (with 200), or whatever the test writes by itself. */
export type ProviderAnswer = number | Content | ((response: ServerResponse) => void);

export type TestProvider = {
  readonly url: string;
  readonly requests: ProviderRequest[];
  /** Answers from now on, for example by path or by how many calls there were. */
  answer: (request: ProviderRequest, count: number) => ProviderAnswer | Promise<ProviderAnswer>;
  readonly close: () => Promise<void>;
};

/** A real HTTP server in the provider's place, which says what a test wants it to say. */
export async function startTestProvider(): Promise<TestProvider> {
  const requests: ProviderRequest[] = [];
  const server = createServer({ keepAliveTimeout }, (message, response) => {
    let body = "";
    message.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    message.on("end", () => {
      const request = {
        method: message.method ?? "",
        path: message.url ?? "",
        headers: message.headers,
        body,
      };
      requests.push(request);
      Promise.resolve(provider.answer(request, requests.length)).then(
        (answer) => write(response, answer),
        () => response.destroy(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port for the provider");
  const provider: TestProvider = {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    answer: () => 500,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
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
