import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ProviderApi } from "../../adapters/provider/provider-api.ts";
import { failureOf } from "../../domain/core/failures.ts";
import { fillPath } from "../../domain/fetch/provider-settings.ts";
import { log } from "../../functions/runtime/log.ts";
import { defaultMapping } from "../../lib/settings/default-mapping.ts";
import { consumerWith } from "../functions/support/consumer-fixture.ts";
import { context, httpEvent, sqsEvent } from "../functions/support/lambda.ts";
import { receiverWith } from "../functions/support/receiver-fixture.ts";
import { startTestProvider, type TestProvider } from "../support/test-provider.ts";
import { places } from "./places.ts";

/** Characters that start a new line somewhere: in a log, a terminal, a header, a page. */
const breaks = [
  ["CR LF", "a\r\nx-injected: 1"],
  ["LF", 'a\n{"code":"EVENT_STORED"}'],
  ["CR", "a\rx"],
  ["NUL", "a\u0000b"],
  ["vertical tab", "a\u000bb"],
  ["form feed", "a\u000cb"],
  ["escape, as a terminal obeys it", "a\u001b[2J\u001b]0;x\u0007"],
  ["delete", "a\u007fb"],
  ["next line of C1", "a\u0085b"],
  ["control sequence of C1", "a\u009b31mb"],
  ["line separator", "a\u2028b"],
  ["paragraph separator", "a\u2029b"],
] as const;

const oneLine = /^[^\p{Cc}\p{Zl}\p{Zp}]*$/u;

describe("a text that breaks a line", () => {
  let written: string[];
  beforeEach(() => {
    written = [];
    vi.spyOn(process.stdout, "write").mockImplementation((chunk) => written.push(String(chunk)) > 0);
  });
  afterEach(() => void vi.restoreAllMocks());

  /** A webhook's path through receiver and consumer; ids need not be UUIDs here. */
  const dataFlowOf = async (body: string, headers: Record<string, string>) => {
    const { sent, ...common } = places();
    const receive = receiverWith("accounts", { ...common, mappedHeaders: ["ce-id"], log });
    const event = httpEvent({ body, headers: { "x-webhook-secret": "secret", ...headers } });
    const { statusCode } = await receive(event, context);
    const stored: unknown[] = [];
    const store = consumerWith({
      ...{ ...common, log },
      mapping: { ...defaultMapping.accounts, eventId: { header: "ce-id" }, ids: "any" },
      record: async (receipts) => {
        stored.push(...receipts.map(({ event: { id, kind, receivedAt, ...facts } }) => facts));
        return receipts.map(() => "first");
      },
    });
    const messages = sent.queue.map(({ body: Body }) => ({ MessageId: "1", Body }));
    await store(sqsEvent(messages), context);
    return { statusCode, stored, reasons: sent.dead.map(({ reason }) => reason ?? "") };
  };
  const body = (fields: object) =>
    JSON.stringify({ event: "connect_account", account_id: "a", connected: true, ...fields });

  it.each(breaks)(
    "names nobody, in an id or a header, and leaves each log entry on its line: %s",
    async (_, text) => {
      const ways = [
        await dataFlowOf(body({ account_id: text }), {}),
        await dataFlowOf(body({ user_id: text }), {}),
        await dataFlowOf(body({ datasource_id: text }), {}),
        await dataFlowOf(body({}), { "ce-id": text }),
        await dataFlowOf(body({}), { "ce-id": encodeURIComponent(text) }),
        await dataFlowOf(body({ event: text }), {}),
        await dataFlowOf(text, { "x-webhook-secret": "secret", "x-other": text }),
        await dataFlowOf(body({}), { "x-webhook-secret": text }),
      ];
      for (const { stored, reasons } of ways) {
        expect(stored).toEqual([]);
        for (const reason of reasons) expect(reason).toMatch(oneLine);
      }
      // Seven are accepted and become dead letters with a reason; the last is refused.
      expect(ways.map(({ reasons }) => reasons.length)).toEqual([1, 1, 1, 1, 1, 1, 1, 0]);
      expect(ways.at(-1)?.statusCode).toBe(401);
      expect(written.length).toBeGreaterThan(7);
      for (const entry of written) {
        expect(entry.endsWith("\n")).toBe(true);
        expect(entry.slice(0, -1)).toMatch(oneLine);
        expect(entry).not.toContain("injected");
      }
    },
  );

  it("is kept in a body, where it is data", async () => {
    const { stored, reasons } = await dataFlowOf(body({ note: breaks.map(([, text]) => text).join() }), {});
    expect([stored, reasons]).toEqual([[expect.objectContaining({ accountId: "a" })], []]);
  });
});

describe("a request to the provider", () => {
  let provider: TestProvider;
  beforeAll(async () => {
    provider = await startTestProvider();
  });
  afterAll(() => provider.close());
  beforeEach(() => {
    provider.requests.length = 0;
    provider.answer = () => ({ json: [] });
  });
  const limits = {
    timeouts: { connectSeconds: 5, headersSeconds: 5, bodySeconds: 5 },
    maxResponseBytes: 10_000,
    allowPrivateAddresses: true,
  };
  const call = (token: string, path: string, link?: string) =>
    new ProviderApi(provider.url, limits, () => new Date()).send(token, {
      method: "GET",
      path,
      ...(link === undefined ? {} : { link }),
    });

  it.each(breaks)(
    "is one, with our headers and the id in its place, whatever an id or endpoint holds: %s",
    async (_, text) => {
      const template = "/accounts/{account_id}/{endpoint}";
      const path = fillPath(template, { kind: "account", id: text }, text, { start: text, end: text });
      await call("token", path);
      await call("token", "/users", `/users?cursor=${text}`);
      const [request, linked] = provider.requests;
      expect(request?.path.split("/").map(decodeURIComponent)).toEqual(["", "accounts", text, text]);
      expect(linked?.path).toMatch(/^\/users\?cursor=/);
      for (const { headers } of provider.requests) {
        const names = ["accept", "accept-encoding", "authorization", "connection", "host"];
        expect(Object.keys(headers).sort()).toEqual(names);
      }
      expect(provider.requests).toHaveLength(2);
    },
  );

  it.each(breaks.filter(([, text]) => /[\r\n\0]/.test(text)))(
    "is not made with a token that would begin another header: %s",
    async (_, text) => {
      const error = await call(`token${text}`, "/users").catch((failed: unknown) => failed);
      const failure = failureOf(error);
      expect(failure.reason).toMatch(/^the provider could not be reached: /);
      expect(failure.reason).not.toContain("token");
      expect(provider.requests).toEqual([]);
    },
  );
});
