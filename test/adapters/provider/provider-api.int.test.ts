import { describe, expect, onTestFinished, test } from "vitest";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import { Unauthorized } from "../../../domain/fetch/answer.ts";
import { startTestProvider, type TestProvider } from "../../../proof/support/test-provider.ts";
import { failureFrom, get, limits, noon, providerApiFixture } from "./provider-api-fixture.ts";

const fixture = providerApiFixture();
const { api } = fixture;

describe("a call", () => {
  test("carries the token, and its body as JSON", async () => {
    fixture.provider.answer = () => ({ json: { ok: true } });
    const call = { method: "PUT", path: "/hooks?a=b", body: { url: "ü" } } as const;
    expect(await api(`${fixture.provider.url}/base/`).send("jwt", call)).toMatchObject({
      found: true,
      text: '{"ok":true}',
    });
    expect(fixture.provider.requests).toMatchObject([
      {
        method: "PUT",
        path: "/base/hooks?a=b",
        body: '{"url":"ü"}',
        headers: {
          authorization: "Bearer jwt",
          accept: "application/json",
          "accept-encoding": "gzip, deflate, br, zstd",
          "content-type": "application/json",
        },
      },
    ]);
  });

  test("without a body has no content type", async () => {
    fixture.provider.answer = () => ({ json: [] });
    await api().send("jwt", get);
    expect(fixture.provider.requests[0]?.headers).not.toHaveProperty("content-type");
  });

  test("returns the answer's bytes unchanged, and their text", async () => {
    const text = '{"big":12345678901234567890,  "s":"ü"}';
    fixture.provider.answer = () => ({ text });
    const answer = { found: true, text, bytes: Buffer.from(text), contentType: "application/json" };
    expect(await api().send("jwt", get)).toEqual(answer);
  });

  test("that expects no data accepts an answer without data", async () => {
    fixture.provider.answer = () => 204;
    expect(await api().send("jwt", { ...get, expects: "acceptance" })).toMatchObject({ found: true });
    expect(await failureFrom(api().send("jwt", get))).toMatchObject({ waitsFor: "data" });
  });

  test("searches an answer for an error at the configured place", async () => {
    fixture.provider.answer = () => ({ json: { error: { code: "late" } } });
    const error = { path: "error.code", means: "not-ready" } as const;
    const call = new ProviderApi(fixture.provider.url, { ...limits, error }, () => noon);
    expect(await failureFrom(call.send("jwt", get))).toMatchObject({ waitsFor: "data" });
    expect(await api().send("jwt", get)).toMatchObject({ found: true });
  });

  test("follows a link of an answer relative to the path, on the provider's own origin", async () => {
    fixture.provider.answer = () => ({ json: [] });
    const base = `${fixture.provider.url}/base`;
    for (const link of [
      "?page=2",
      "/other?page=3",
      `${fixture.provider.url}/x?page=4`,
      `//${new URL(base).host}/y`,
    ]) {
      await api(base).send("jwt", { ...get, link });
    }
    const paths = fixture.provider.requests.map(({ path }) => path);
    expect(paths).toEqual(["/base/api/v0.4/users?page=2", "/other?page=3", "/x?page=4", "/y"]);
  });

  test("by a link to another origin is rejected: the token goes nowhere else", async () => {
    const elsewhere = await startTestProvider();
    onTestFinished(elsewhere.close);
    for (const link of [
      `${elsewhere.url}/x`,
      `//${new URL(elsewhere.url).host}/x`,
      `\\\\${new URL(elsewhere.url).host}/x`,
      fixture.provider.url.replace("http:", "https:"),
      fixture.provider.url.replace("127.0.0.1", "localhost"),
      "http://[",
      "data:,x",
    ]) {
      expect(await failureFrom(api().send("jwt", { ...get, link }))).toEqual({
        type: "permanent",
        reason: "an answer's link leads to another origin; see provider.baseUrls and provider.paging",
      });
    }
    expect([...fixture.provider.requests, ...elsewhere.requests]).toEqual([]);
  });

  test("that is answered 404 found nothing, and 503 waits as Retry-After says", async () => {
    fixture.provider.answer = () => 404;
    expect(await api().send("jwt", get)).toEqual({ found: false });
    fixture.provider.answer = () => ({ status: 503, headers: { "retry-after": "1.5" }, text: "personal" });
    expect(await failureFrom(api().send("jwt", get))).toEqual({
      type: "retryable",
      reason: "the provider answered 503",
      delayInSeconds: 1.5,
    });
  });

  test.each([301, 302, 303, 307, 308])(
    "that is redirected with %i fails, names only the host, and the token goes nowhere else",
    async (status) => {
      const elsewhere = await startTestProvider();
      onTestFinished(elsewhere.close);
      const secret = `http://user:canary@localhost:${new URL(elsewhere.url).port}/canary?token=canary`;
      for (const [location, host] of [
        ["http://169.254.169.254/latest/meta-data/", "169.254.169.254"],
        [secret, "localhost"],
        ["/elsewhere", "127.0.0.1"],
        ["http://[", "nowhere"],
      ] as const) {
        fixture.provider.requests.length = 0;
        fixture.provider.answer = () => ({ status, headers: { location }, text: "" });
        expect(await failureFrom(api().send("jwt", get))).toMatchObject({
          type: [301, 308].includes(status) ? "permanent" : "retryable",
          reason: `the provider answered ${status} and leads to ${host}: redirects are not followed; see provider.baseUrls`,
        });
        expect(fixture.provider.requests).toHaveLength(1);
      }
      expect(elsewhere.requests).toEqual([]);
    },
  );

  test("that is answered 401 reports that the token was refused", async () => {
    fixture.provider.answer = () => 401;
    await expect(api().send("jwt", get)).rejects.toBeInstanceOf(Unauthorized);
  });
});

describe("the connection", () => {
  test("is reused for the next call, even after an error page", async () => {
    const ports = new Set<unknown>();
    const call = api();
    for (const status of [200, 404, 503, 200]) {
      fixture.provider.answer = () => (response) => {
        ports.add(response.socket?.remotePort);
        response.writeHead(status).end("x".repeat(5_000));
      };
      await call.send("jwt", get).catch(() => undefined);
      // The connection is released one turn after the answer ends.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(ports.size).toBe(1);
  });

  test("is closed if an error page does not end", async () => {
    const isCut = Promise.withResolvers<void>();
    fixture.provider.answer = () => (response) => {
      response.on("close", isCut.resolve).writeHead(404);
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(1_000)));
      };
      response.on("drain", more);
      more();
    };
    expect(await api().send("jwt", get)).toEqual({ found: false });
    await isCut.promise;
  });
});

describe("the time that a caller has left", () => {
  test("ends a call within its own time-outs", async () => {
    fixture.provider.answer = () => () => undefined;
    const patient = { connectSeconds: 5, headersSeconds: 60, bodySeconds: 60 };
    const call = new ProviderApi(fixture.provider.url, { ...limits, timeouts: patient }, () => noon);
    for (const timeLeft of [50, -1]) {
      expect(await failureFrom(call.send("jwt", { ...get, timeLeft: () => timeLeft }))).toEqual({
        type: "retryable",
        reason: "the provider could not be reached: it took too long",
        delayInSeconds: 0,
      });
    }
  });
});

describe("a provider that", () => {
  test.each<[string, TestProvider["answer"], unknown]>([
    [
      "does not answer in time",
      () => () => undefined,
      "the provider could not be reached: no answer in time (HEADERS_TIMEOUT)",
    ],
    ["cuts the connection", () => (response) => response.destroy(), expect.any(String)],
    ["speaks no HTTP", () => (response) => response.socket?.end("hello\r\n\r\n"), expect.any(String)],
  ])("%s is retryable", async (_, answer, reason) => {
    fixture.provider.answer = answer;
    expect(await failureFrom(api().send("jwt", get))).toMatchObject({ type: "retryable", reason });
  });

  test("is unreachable is retryable", async () => {
    const gone = await startTestProvider();
    await gone.close();
    expect(await failureFrom(api(gone.url).send("jwt", get))).toEqual({
      type: "retryable",
      reason: "the provider could not be reached: nothing listens there (ECONNREFUSED)",
      delayInSeconds: 0,
    });
  });
});
