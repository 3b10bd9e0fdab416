import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { parseAuthorization, verifySignature } from "@income-events/local-stack/gateway/signature.ts";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { checks } from "../../../packages/subscriber/checks.ts";
import {
  createReader,
  DocumentError,
  inMemory,
  monthlyIncome,
  readDocument,
  readMessage,
} from "../../../packages/subscriber/index.ts";
import { exampleOf } from "../../../scripts/documents/examples.ts";
import { messageHistories } from "../../domain/message/message-histories.ts";
import { askPython, reachesLocalStack, runsPython } from "../../support/python.ts";
import { documentsOfIncome, documentsOfOne } from "../subscriber/income-documents.ts";

describe.skipIf(!runsPython)("the reader in Python", () => {
  it("knows the types of messages, and which of them replace each other", async () => {
    const newestOf = Object.entries(checks).map(([type, check]) => [type, check.newestOf]);
    expect(await askPython([["types", null]])).toEqual([Object.fromEntries(newestOf)]);
  });

  it("decides as the reader in TypeScript does: duplicates, reordering, erasure, later types, what breaks the contract", async () => {
    const text = (message: object) => JSON.stringify(message);
    const message = exampleOf("account.connected");
    const odd = [
      ...["", "no message", "null", "[]", '"text"', "{}"],
      ...Object.keys(message).map((field) => text({ ...message, [field]: undefined })),
      ...Object.keys(message).map((field) => text({ ...message, [field]: 1 })),
      ...[{ sequence: "1" }, { source: "/elsewhere" }, { time: "today" }, { replayid: "" }].map((change) =>
        text({ ...message, ...change }),
      ),
      ...["one", "of the same sequence"].map((id) => text({ ...message, id })),
      text({ ...message, id: "later", type: "account.merged", data: undefined }),
    ];
    const deliveries = messageHistories.chain((messages) =>
      fc.shuffledSubarray([...messages, ...messages], { minLength: messages.length }),
    );
    const histories = [odd, ...fc.sample(deliveries, 200).map((history) => history.map(text))];
    const expected = await Promise.all(
      histories.map(async (bodies) => {
        const handed: string[] = [];
        const handle = ({ id }: { readonly id: string }) => void handed.push(id);
        const read = createReader({ memory: inMemory(), handle });
        const results: [boolean, string][] = [];
        for (const body of bodies) {
          const { settled, type } = await read(body);
          results.push([settled, type]);
        }
        return [handed, results];
      }),
    );
    expect(await askPython(histories.map((bodies) => ["outcomes", bodies] as const))).toEqual(expected);
  });

  it("adds up income by month as TypeScript does, and refuses the same payments", async () => {
    const cases = [...fc.sample(documentsOfIncome, 200), ...documentsOfOne];
    const expected = cases.map((documents) => {
      try {
        return monthlyIncome(documents);
      } catch (error) {
        return error instanceof Error ? error.message : error;
      }
    });
    expect(await askPython(cases.map((documents) => ["income", documents] as const))).toEqual(expected);
  });

  it("reads documents as TypeScript does: signed, by a URL or by invoking a function, again while the stage is busy", async () => {
    const text = '{"data":[]}';
    const sha256 = createHash("sha256").update(text).digest("hex");
    const busy = { status: 503, headers: { "retry-after": "3" } };
    const problem = (type: string) => ({ status: 404, body: `{"type":"urn:income-events:problem:${type}"}` });
    const scenarios: readonly (readonly Answer[])[] = [
      [{ status: 200, body: text }],
      [busy, { status: 429 }, { status: 200, body: text }],
      [busy, busy, busy],
      ["broken", { status: 200, body: text }],
      [problem("version-not-kept")],
      [problem("not-found")],
      [{ status: 404, body: "<html>" }],
      [{ status: 403 }],
      [{ status: 200, body: "{}" }],
    ];
    await using server = await startAnswering(scenarios);
    vi.stubEnv("AWS_ENDPOINT_URL", server.url);
    onTestFinished(() => void vi.unstubAllEnvs());
    const alias = "arn:aws:lambda:eu-central-2:111111111111:function:read:billing";
    const bodyOf = (origin: string, name: string) => {
      const { data, ...attributes } = exampleOf("data.updated");
      const href = `${origin}/v1/accounts/it's%20(${name})/documents/income?version=7`;
      return JSON.stringify({
        ...attributes,
        data: { ...data, document: { ...Object(data).document, href, sha256 } },
      });
    };
    // An older boto3 invokes only functions in AWS.
    const ways = reachesLocalStack ? ["url", "invoke"] : ["url"];
    const names = scenarios.flatMap((_, index) => ways.map((way) => `${way} ${index}`));
    const bodies = (reader: string) =>
      names.map((name) =>
        bodyOf(name.startsWith("url") ? server.url : alias, `${reader} ${name}`.replaceAll(" ", "-")),
      );

    const expected: unknown[] = [];
    for (const body of bodies("node")) {
      const waits: boolean[] = [];
      const read = readMessage(body);
      if (read.type !== "message" || read.message.type !== "data.updated") throw new Error(read.type);
      const wait = async (milliseconds: number) => void waits.push(milliseconds >= 3000);
      const found = await readDocument(read.message, { ...server.signing, tries: 3, wait }).then(
        (result) => [
          result.type,
          result.type === "document" ? Buffer.from(result.bytes).toString("base64") : "",
        ],
        (error: unknown) => ["failed", error instanceof DocumentError ? error.message : error],
      );
      expected.push([...found, waits]);
    }
    const answers = await askPython(
      bodies("python").map((body) => ["document", body] as const),
      { AWS_ENDPOINT_URL: server.url, AWS_DEFAULT_REGION: server.signing.region, ...server.environment },
    );
    expect(Object.fromEntries(names.map((name, index) => [name, answers[index]]))).toEqual(
      Object.fromEntries(names.map((name, index) => [name, expected[index]])),
    );
    expect(server.refused).toEqual([]);
  });

  it("reads a document by its charset, with every digit, and from the message that holds it", async () => {
    const cases: readonly (readonly [Buffer, string, string])[] = [
      [Buffer.from("[1.10,12345678901234567890]"), "application/json", '["1.10", 12345678901234567890]'],
      [Buffer.from('"José"', "latin1"), 'application/json; charset="ISO-8859-1"', '"Jos\\u00e9"'],
      [Buffer.from('\uFEFF"José"'), "application/json", '"Jos\\u00e9"'],
      [Buffer.from('"José"', "utf16le").swap16(), "application/json; charset=utf-16", '"Jos\\u00e9"'],
      [Buffer.from('\uFEFF"José"', "utf16le"), "application/json; charset=utf-16", '"Jos\\u00e9"'],
    ];
    await using server = await startAnswering(cases.map(([body]) => [{ status: 200, body }]));
    const bodies = cases.map(([body, contentType], index) => {
      const { data, ...attributes } = exampleOf("data.updated");
      const sha256 = createHash("sha256").update(body).digest("hex");
      const href = `${server.url}/v1/accounts/${index})/documents/income?version=7`;
      const document = { ...Object(data).document, href, sha256, contentType };
      return JSON.stringify({ ...attributes, data: { ...data, document } });
    });
    const { data, ...attributes } = exampleOf("data.updated");
    const { document, ...others } = Object(data);
    const [held] = cases[0] ?? [];
    const sha256 = createHash("sha256").update(String(held)).digest("hex");
    const reference = { ...document, href: "urn:nowhere", sha256, content: "stand-in" };
    const inline = JSON.stringify({ ...attributes, data: { ...others, document: reference } });
    const all = [...bodies, inline.replace('"stand-in"', String(held))];
    const environment = { AWS_DEFAULT_REGION: server.signing.region, ...server.environment };
    const expected = [...cases, ...cases.slice(0, 1)].map(([, , read]) => read);
    expect(await askPython([["texts", all]], environment)).toEqual([expected]);
  });
});

type Answer =
  | { readonly status: number; readonly body?: string | Buffer; readonly headers?: object }
  | "broken";

/**
 * Answers documents whose path has a scenario's number before a bracket with that scenario's answers in
 * order: at its URL, or as Lambda does.
 */
async function startAnswering(scenarios: readonly (readonly Answer[])[]) {
  const credentials = { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "secret", sessionToken: "session" };
  const asked = new Map<string, number>();
  const refused: string[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url: target = "", headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const claim = parseAuthorization(headers.authorization);
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    const signed = { method, target, headers: texts, body };
    if (claim === undefined || !verifySignature(claim, signed, credentials.secretAccessKey))
      refused.push(target);
    const path = method === "POST" ? String(JSON.parse(body.toString()).path) : target;
    const count = asked.get(path) ?? 0;
    asked.set(path, count + 1);
    const number = Number(/(\d+)\)/.exec(decodeURIComponent(path))?.[1]);
    const answer = scenarios[number]?.[count] ?? { status: 500 };
    if (answer === "broken") return void request.socket.destroy();
    const { status, body: content = "" } = answer;
    if (method !== "POST" || status === 429 || status >= 500 || status === 403)
      return void response.writeHead(status, { ...answer.headers }).end(content);
    const base64 = gzipSync(content).toString("base64");
    response.end(JSON.stringify({ status, headers: { "content-encoding": "gzip" }, body: base64 }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    signing: { region: "eu-central-1", credentials },
    environment: {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_SESSION_TOKEN: credentials.sessionToken,
    },
    refused,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
