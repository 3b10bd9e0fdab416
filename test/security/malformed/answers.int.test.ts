import { createServer, type Server, type Socket } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import type { ProviderClient } from "../../../adapters/provider/provider-client.ts";
import { failureOf } from "../../../domain/core/failures.ts";
import { type ApiAnswer, readAnswer, Unauthorized } from "../../../domain/fetch/answer.ts";
import { pagingStyles } from "../../../domain/fetch/paging.ts";
import { fillPath, parseProviderSettings } from "../../../domain/fetch/provider-settings.ts";
import { waitFor } from "../../../domain/fetch/task.ts";
import { parseReconcileSettings } from "../../../domain/reconcile/reconcile-settings.ts";
import { readListed } from "../../../domain/state/listing.ts";
import { providerLists } from "../../../functions/reconcile/provider-lists.ts";
import { refreshedToken } from "../../../functions/refresh/refresher.ts";
import { registeredUrl } from "../../../functions/register/registrar.ts";
import { parseSettings } from "../../../lib/settings/settings.ts";
import { expectCleanPrototypes, failsAsSaid, near } from "./near.ts";

afterAll(expectCleanPrototypes);

describe("an answer of the provider, whatever its text is", () => {
  const maxPages = 20;
  const { provider, reconcile } = parseSettings(
    { production: false, provider: { paths: { userAccounts: "/users/{user_id}/accounts" } } },
    "file",
  );
  const read = parseProviderSettings(provider);
  const settings = parseReconcileSettings(reconcile, { users: "any", accounts: "any" });
  const answers = fc.array(
    near(
      [
        '{"data":[{"id":"a","created_at":"2026-01-01"}],"next":"2"}',
        '{"data":[{"id":"b"}],"next":null}',
        '[{"id":1,"connected":true}]',
        '{"token":"a.b.c"}',
        '{"url":"https://a.example/users"}',
        '{"data":{"connected":false}}',
      ],
      ['"next":', '"data":[', "null", "\\u0022", "1e400", "__proto__", "12345678901234567890"],
    ),
    { minLength: 1, maxLength: 4 },
  );
  /** Answers in order, the last one repeatedly. */
  const answering = (texts: readonly string[]): Pick<ProviderClient, "call"> => {
    let count = 0;
    const call = async (): Promise<ApiAnswer> => {
      const text = texts[Math.min(count, texts.length - 1)] ?? "";
      count += 1;
      if (count > maxPages + 1) throw new Error("a list is read without end");
      const given = { status: 200, contentType: "application/json", body: Buffer.from(text) };
      return readAnswer(given, { expects: "data", url: "https://a.example/", now: new Date(0) });
    };
    return { call };
  };

  it("is a list that ends, a token or an address, or a failure with a reason", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...pagingStyles), answers, async (by, texts) => {
        const paged = { ...read, paging: { ...read.paging, by, maxPages } };
        const lists = providerLists(answering(texts), paged, settings);
        for (const item of (await failsAsSaid(async () => await lists.accountsOf?.("a"))) ?? [])
          await failsAsSaid(() => readListed(settings.readers.accounts, item, jmespathSearch));
        for (const isListed of [false, true])
          await failsAsSaid(() =>
            registeredUrl(answering(texts), { name: "users", path: "/webhooks/users" }, isListed),
          );
        const { call } = answering(texts);
        const token = await failsAsSaid(() =>
          refreshedToken({ send: (_, asked) => call(asked) }, "jwt", "/refresh"),
        );
        expect(token).not.toBe("");
      }),
      { numRuns: 300 },
    );
  });
});

describe("what the provider's server sends, whatever its bytes are", () => {
  const maxResponseBytes = 1_024;
  let answer = "";
  let asked = "";
  let server: Server;
  let api: ProviderApi;
  beforeAll(async () => {
    server = createServer((socket: Socket) => {
      socket.on("error", () => undefined);
      socket.on("data", (bytes) => {
        asked += bytes.toString("latin1");
        if (asked.endsWith("\r\n\r\n")) socket.end(answer);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = z.object({ port: z.number() }).parse(server.address());
    const timeouts = { connectSeconds: 5, headersSeconds: 5, bodySeconds: 5 };
    const limits = { timeouts, maxResponseBytes, allowPrivateAddresses: true };
    api = new ProviderApi(`http://127.0.0.1:${port}`, limits, () => new Date("2026-11-21T12:00:00Z"));
  });
  afterAll(() => server?.close());

  const answers = near(
    [
      'HTTP/1.1 200 OK\r\ncontent-length: 11\r\nconnection: close\r\n\r\n{"data":[]}',
      `HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${"x".repeat(1_100)}`,
      "HTTP/1.1 429 Slow\r\nretry-after: 99999999999999\r\nconnection: close\r\n\r\n",
      "HTTP/1.1 503 Down\r\nretry-after: Sat, 21 Nov 2026 13:00:00 GMT\r\nconnection: close\r\n\r\n",
      "HTTP/1.1 301 Moved\r\nlocation: https://a.example/\r\nconnection: close\r\n\r\n",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
      "HTTP/1.1 401 No\r\nconnection: close\r\n\r\n",
    ],
    ["\r\n", "retry-after: ", "location: ", "content-length: ", "content-encoding: gzip\r\n", "100 Continue"],
  );
  const ids = near(["a", "a/b", "..\r\nx: y"], ["\r\n", "..", "/", "?", "#", "%2F"]);

  it("is an answer or a failure with a delay that can be kept, and an id changes no request but its part", async () => {
    await fc.assert(
      fc.asyncProperty(ids, answers, async (id, bytes) => {
        [answer, asked] = [bytes, ""];
        const subject = { kind: "account", id: id.toWellFormed() || "a" } as const;
        const result = await failsAsSaid(async () => {
          const path = fillPath("/accounts/{account_id}/{endpoint}", subject, "income");
          try {
            return await api.send("jwt", { method: "GET", path });
          } catch (error) {
            if (error instanceof Unauthorized) return undefined;
            const failure = failureOf(error);
            if (failure.type !== "permanent") {
              const seconds = waitFor(
                1,
                { baseSeconds: 2, maxSeconds: 900, atLeastSeconds: failure.delayInSeconds },
                0.5,
              );
              expect(seconds).toBeGreaterThanOrEqual(1);
              expect(seconds).toBeLessThanOrEqual(900);
            }
            throw error;
          }
        });
        if (result?.found) expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(3 * maxResponseBytes);
        // A request whose connection closed is sent again.
        for (const request of asked.split("\r\n\r\n").filter((text) => text !== "")) {
          const [line, ...headers] = request.split("\r\n");
          expect(line).toMatch(/^GET \/accounts\/[^/\s?#]+\/income HTTP\/1\.1$/);
          for (const header of headers)
            expect(header).toMatch(/^(host|connection|authorization|accept|accept-encoding): /i);
        }
      }),
      { numRuns: 300 },
    );
  });
});
