import { describe, expect, onTestFinished, test } from "vitest";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import { Unauthorized } from "../../../domain/fetch/answer.ts";
import { startTestProvider, type TestProvider } from "../../support/test-provider.ts";
import {
  failureFrom,
  get,
  limits,
  maxResponseBytes,
  noon,
  providerApiFixture,
} from "./provider-api-fixture.ts";

const fixture = providerApiFixture();
const { api } = fixture;

/** Answers without an end. @returns when the connection is closed */
function answerEndlessly(status: number): Promise<void> {
  const isCut = Promise.withResolvers<void>();
  fixture.provider.answer = () => (response) => {
    response.on("close", isCut.resolve).writeHead(status);
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(1_000)));
    };
    response.on("drain", more);
    more();
  };
  return isCut.promise;
}

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
    const isCut = answerEndlessly(404);
    expect(await api().send("jwt", get)).toEqual({ found: false });
    await isCut;
  });
});

test("the time that a caller has left ends a call within its own time-outs", async () => {
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

describe("an answer's body", () => {
  test.each([
    ["of exactly the limit is taken", maxResponseBytes, true],
    ["over the limit is given up, and names the setting", maxResponseBytes + 1, false],
  ])("%s", async (_, bytes, isTaken) => {
    fixture.provider.answer = () => ({ text: `"${"x".repeat(bytes - 2)}"` });
    const call = api().send("jwt", get);
    if (isTaken) return expect(await call).toMatchObject({ found: true });
    expect(await failureFrom(call)).toEqual({
      type: "permanent",
      reason: `the answer is over ${maxResponseBytes} bytes; see provider.maxResponseBytes`,
    });
  });

  test("that is announced over the limit is rejected before it is read", async () => {
    fixture.provider.answer = () => (response) => {
      response.writeHead(200, { "content-length": String(maxResponseBytes + 1) });
      response.flushHeaders();
    };
    expect(await failureFrom(api().send("jwt", get))).toMatchObject({ type: "permanent" });
  });

  test("that never ends is rejected at the limit, and its connection closed", async () => {
    const isCut = answerEndlessly(200);
    expect(await failureFrom(api().send("jwt", get))).toMatchObject({ type: "permanent" });
    await isCut;
  });

  test.each([200, 503])(
    "of a %i that arrives byte by byte without end is cut at the call's time-out",
    async (status) => {
      const isCut = Promise.withResolvers<void>();
      fixture.provider.answer = () => (response) => {
        response.writeHead(status);
        // Each byte is within the time-out between two parts.
        const timer = setInterval(() => response.write(" "), 20);
        response.on("close", () => {
          clearInterval(timer);
          isCut.resolve();
        });
      };
      const short = { connectSeconds: 0.1, headersSeconds: 0.2, bodySeconds: 0.2 };
      const call = new ProviderApi(fixture.provider.url, { ...limits, timeouts: short }, () => noon);
      expect(await failureFrom(call.send("jwt", get))).toMatchObject({
        type: "retryable",
        reason:
          status === 200 ? "the provider's answer broke off: it took too long" : "the provider answered 503",
      });
      await isCut.promise;
    },
  );

  test.each([
    [503, "retryable"],
    [404, "found nothing"],
    [401, "the token"],
  ])("over the limit does not change the meaning of a %i (%s)", async (status) => {
    fixture.provider.answer = () => ({ status, text: "x".repeat(maxResponseBytes * 20) });
    const call = api().send("jwt", get);
    if (status === 404) expect(await call).toEqual({ found: false });
    else if (status === 401) await expect(call).rejects.toBeInstanceOf(Unauthorized);
    else expect(await failureFrom(call)).toMatchObject({ type: "retryable" });
  });

  test.each([
    ["breaks off", true, expect.stringMatching(/^the provider's answer broke off: /)],
    ["stalls", false, "the provider's answer broke off: nothing more came in time (BODY_TIMEOUT)"],
  ])("that %s is retryable", async (_, isCut, reason) => {
    fixture.provider.answer = () => (response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("x", () => isCut && response.destroy());
    };
    expect(await failureFrom(api().send("jwt", get))).toMatchObject({ type: "retryable", reason });
  });
});
