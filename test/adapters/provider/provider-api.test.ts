import { isIP } from "node:net";
import { startTestProvider, type TestProvider } from "@income-events/local-stack/provider.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { providerApi, Unauthorized } from "../../../adapters/provider/provider-api.ts";
import { FailureError, failureOf } from "../../../domain/core/failures.ts";

const noon = new Date("2026-11-21T12:00:00Z");
const maxResponseBytes = 10_000;
const timeouts = { connectSeconds: 1, headersSeconds: 0.15, bodySeconds: 0.15 };

let provider: TestProvider;

beforeAll(async () => {
  provider = await startTestProvider();
});
afterAll(async () => {
  await provider.close();
});
beforeEach(() => {
  provider.requests.length = 0;
});

const limits = { timeouts, maxResponseBytes, allowPrivateAddresses: true };
const api = (baseUrl = provider.url) => providerApi(baseUrl, limits, () => noon);
const get = { method: "GET", path: "/api/v0.4/users" } as const;

/** What a call fails with. */
async function failureFrom(call: Promise<unknown>) {
  const error = await call.then(
    (answer) => expect.fail(`answered ${JSON.stringify(answer)}`),
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(FailureError);
  return failureOf(error);
}

describe("a call", () => {
  test("carries the token, and its body as JSON", async () => {
    provider.answer = () => ({ json: { ok: true } });
    const call = { method: "PUT", path: "/hooks?a=b", body: { url: "ü" } } as const;
    expect(await api(`${provider.url}/base/`)("jwt", call)).toEqual({ found: true, text: '{"ok":true}' });
    expect(provider.requests).toMatchObject([
      {
        method: "PUT",
        path: "/base/hooks?a=b",
        body: '{"url":"ü"}',
        headers: {
          authorization: "Bearer jwt",
          accept: "application/json",
          "content-type": "application/json",
        },
      },
    ]);
  });

  test("without a body has no content type", async () => {
    provider.answer = () => ({ json: [] });
    await api()("jwt", get);
    expect(provider.requests[0]?.headers).not.toHaveProperty("content-type");
  });

  test.each([200, 201, 202, 204])("that is answered %i gives the body as it is", async (status) => {
    const text = status === 204 ? "" : '{"big":12345678901234567890,  "s":"ü"}';
    provider.answer = () => ({ status, text });
    expect(await api()("jwt", get)).toEqual({ found: true, text });
  });

  test("by a link of an answer goes where it leads on from the path, on the provider's own origin", async () => {
    provider.answer = () => ({ json: [] });
    const base = `${provider.url}/base`;
    for (const link of [
      "?page=2",
      "/other?page=3",
      `${provider.url}/x?page=4`,
      `//${new URL(base).host}/y`,
    ]) {
      await api(base)("jwt", { ...get, link });
    }
    const paths = provider.requests.map(({ path }) => path);
    expect(paths).toEqual(["/base/api/v0.4/users?page=2", "/other?page=3", "/x?page=4", "/y"]);
  });

  test("by a link to another origin is given up: the token goes nowhere else", async () => {
    const elsewhere = await startTestProvider();
    onTestFinished(elsewhere.close);
    for (const link of [
      `${elsewhere.url}/x`,
      `//${new URL(elsewhere.url).host}/x`,
      `\\\\${new URL(elsewhere.url).host}/x`,
      provider.url.replace("http:", "https:"),
      provider.url.replace("127.0.0.1", "localhost"),
      "http://[",
      "data:,x",
    ]) {
      expect(await failureFrom(api()("jwt", { ...get, link }))).toEqual({
        kind: "permanent",
        reason: "an answer's link leads to another origin; see provider.baseUrls and provider.paging",
      });
    }
    expect([...provider.requests, ...elsewhere.requests]).toEqual([]);
  });

  test.each([404, 410])("that is answered %i found nothing", async (status) => {
    provider.answer = () => status;
    expect(await api()("jwt", get)).toEqual({ found: false });
  });

  test.each([408, 425, 429, 500, 502, 503, 504, 599])(
    "that is answered %i may be made again",
    async (status) => {
      provider.answer = () => status;
      expect(await failureFrom(api()("jwt", get))).toEqual({
        kind: "retryable",
        reason: `the provider answered ${status}`,
        delayInSeconds: 0,
      });
    },
  );

  test.each([400, 402, 403, 405, 409, 413, 422, 451])("that is answered %i is given up", async (status) => {
    provider.answer = () => ({ status, text: '{"error":"personal"}' });
    expect(await failureFrom(api()("jwt", get))).toEqual({
      kind: "permanent",
      reason: `the provider answered ${status}`,
      status,
    });
  });

  test.each([301, 302, 303, 307, 308])(
    "that is redirected with %i is given up, tells the host alone, and the token goes nowhere else",
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
        provider.requests.length = 0;
        provider.answer = () => ({ status, headers: { location }, text: "" });
        expect(await failureFrom(api()("jwt", get))).toEqual({
          kind: "permanent",
          reason: `the provider answered ${status} and leads to ${host}: redirects are not followed; see provider.baseUrls`,
          status,
        });
        expect(provider.requests).toHaveLength(1);
      }
      expect(elsewhere.requests).toEqual([]);
    },
  );

  test("that is answered 401 tells that the token was refused", async () => {
    provider.answer = () => 401;
    await expect(api()("jwt", get)).rejects.toBeInstanceOf(Unauthorized);
  });

  test.each([
    ["seconds", "17", 17],
    ["a date", "Sat, 21 Nov 2026 12:01:30 GMT", 90],
    ["a date that is past", "Sat, 21 Nov 2026 11:00:00 GMT", 0],
    ["nonsense", "soon", 0],
    ["a negative number", "-5", 0],
  ])("waits as Retry-After asks in %s", async (_, value, delayInSeconds) => {
    for (const status of [429, 503]) {
      provider.answer = () => ({ status, headers: { "retry-after": value }, text: "" });
      expect(await failureFrom(api()("jwt", get))).toMatchObject({ kind: "retryable", delayInSeconds });
    }
  });
});

describe("an answer's body", () => {
  test.each([
    ["of exactly the limit is taken", maxResponseBytes, true],
    ["over the limit is given up, and names the setting", maxResponseBytes + 1, false],
  ])("%s", async (_, bytes, isTaken) => {
    provider.answer = () => ({ text: "x".repeat(bytes) });
    const call = api()("jwt", get);
    if (isTaken) return expect(await call).toMatchObject({ found: true });
    expect(await failureFrom(call)).toEqual({
      kind: "permanent",
      reason: `the answer is over ${maxResponseBytes} bytes; see provider.maxResponseBytes`,
    });
  });

  test("that is announced as over the limit is given up before it comes", async () => {
    provider.answer = () => (response) => {
      response.writeHead(200, { "content-length": String(maxResponseBytes + 1) });
      response.flushHeaders();
    };
    expect(await failureFrom(api()("jwt", get))).toMatchObject({ kind: "permanent" });
  });

  test("that never ends is given up at the limit, and its connection cut", async () => {
    const isCut = Promise.withResolvers<void>();
    provider.answer = () => (response) => {
      response.on("close", isCut.resolve).writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(1_000)));
      };
      response.on("drain", more);
      more();
    };
    expect(await failureFrom(api()("jwt", get))).toMatchObject({ kind: "permanent" });
    await isCut.promise;
  });

  test.each([200, 503])(
    "of a %i that comes byte by byte without end ends with the call's time",
    async (status) => {
      const isCut = Promise.withResolvers<void>();
      provider.answer = () => (response) => {
        response.writeHead(status);
        // Each byte is in time for the time-out between two parts.
        const timer = setInterval(() => response.write(" "), 20);
        response.on("close", () => {
          clearInterval(timer);
          isCut.resolve();
        });
      };
      const short = { connectSeconds: 0.1, headersSeconds: 0.2, bodySeconds: 0.2 };
      const call = providerApi(provider.url, { ...limits, timeouts: short }, () => noon);
      expect(await failureFrom(call("jwt", get))).toMatchObject({
        kind: "retryable",
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
  ])("over the limit does not change what a %i says (%s)", async (status) => {
    provider.answer = () => ({ status, text: "x".repeat(maxResponseBytes * 20) });
    const call = api()("jwt", get);
    if (status === 404) expect(await call).toEqual({ found: false });
    else if (status === 401) await expect(call).rejects.toBeInstanceOf(Unauthorized);
    else expect(await failureFrom(call)).toMatchObject({ kind: "retryable" });
  });

  test("that breaks off may be asked for again", async () => {
    provider.answer = () => (response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("x", () => response.destroy());
    };
    expect(await failureFrom(api()("jwt", get))).toMatchObject({
      kind: "retryable",
      reason: expect.stringMatching(/^the provider's answer broke off: /),
    });
  });

  test("that stops coming may be asked for again", async () => {
    provider.answer = () => (response) => {
      response.writeHead(200);
      response.write("x");
    };
    expect(await failureFrom(api()("jwt", get))).toMatchObject({
      kind: "retryable",
      reason: "the provider's answer broke off: BODY_TIMEOUT",
    });
  });
});

describe("the connection", () => {
  test("is kept for the next call, after an error's page too", async () => {
    const ports = new Set<unknown>();
    const call = api();
    for (const status of [200, 404, 503, 200]) {
      provider.answer = () => (response) => {
        ports.add(response.socket?.remotePort);
        response.writeHead(status).end("x".repeat(5_000));
      };
      await call("jwt", get).catch(() => undefined);
      // The connection is free a turn after the answer's end.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(ports.size).toBe(1);
  });

  test("is cut rather than read on where an error's page does not end", async () => {
    const isCut = Promise.withResolvers<void>();
    provider.answer = () => (response) => {
      response.on("close", isCut.resolve).writeHead(404);
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(1_000)));
      };
      response.on("drain", more);
      more();
    };
    expect(await api()("jwt", get)).toEqual({ found: false });
    await isCut.promise;
  });
});

describe("the time that a caller has left", () => {
  test("ends a call that its own time-outs would bear", async () => {
    provider.answer = () => () => undefined;
    const patient = { connectSeconds: 5, headersSeconds: 60, bodySeconds: 60 };
    const call = providerApi(provider.url, { ...limits, timeouts: patient }, () => noon);
    for (const timeLeft of [50, -1]) {
      expect(await failureFrom(call("jwt", { ...get, timeLeft: () => timeLeft }))).toEqual({
        kind: "retryable",
        reason: "the provider could not be reached: it took too long",
        delayInSeconds: 0,
      });
    }
  });

  test("is no matter to a call that ends in it", async () => {
    provider.answer = () => ({ json: [] });
    expect(await api()("jwt", { ...get, timeLeft: () => 60_000 })).toEqual({ found: true, text: "[]" });
  });
});

describe("a private address", () => {
  const publicOnly = { ...limits, allowPrivateAddresses: false };
  const refused = {
    kind: "permanent",
    reason:
      "the provider's address is private; correct provider.baseUrls, or set provider.allowPrivateAddresses to true",
  };
  /** The provider under a name, and what that name is said to resolve to. */
  function named(addresses: readonly string[], scheme = "http") {
    const asked: string[] = [];
    const { port } = new URL(provider.url);
    const call = providerApi(
      `${scheme}://provider.test:${port}`,
      publicOnly,
      () => noon,
      (name, _, callback) => {
        asked.push(name);
        callback(
          null,
          addresses.map((address) => ({ address, family: isIP(address) })),
        );
      },
    );
    return { call, asked };
  }

  beforeEach(() => {
    provider.answer = () => ({ json: [] });
  });

  test.each([
    ["http://127.0.0.1:1"],
    ["http://[::1]:1"],
    ["http://[::ffff:7f00:1]:1"],
    ["http://localhost:1"],
    ["https://169.254.169.254"],
    ["https://2130706433"],
  ])("in the settings is refused before anything is sent: %s", async (baseUrl) => {
    expect(await failureFrom(providerApi(baseUrl, publicOnly, () => noon)("jwt", get))).toEqual(refused);
  });

  test.each([
    ["this machine", ["127.0.0.1"]],
    ["a link", ["169.254.169.254"]],
    ["a private network of IPv6", ["fd00::1"]],
    ["this machine, beside a public address", ["93.184.215.14", "127.0.0.1"]],
    ["nothing", []],
  ])("behind a name is refused: %s", async (_, addresses) => {
    for (const scheme of ["http", "https"]) {
      const { call, asked } = named(addresses, scheme);
      expect(await failureFrom(call("jwt", get))).toEqual(refused);
      // Asked once: what is connected to is what was judged.
      expect(asked).toEqual(["provider.test"]);
    }
    expect(provider.requests).toEqual([]);
  });

  test("is called where the settings allow it", async () => {
    expect(await api()("jwt", get)).toEqual({ found: true, text: "[]" });
  });

  test("of a name that does not resolve may be asked for again", async () => {
    const call = providerApi(
      "http://provider.test:1",
      publicOnly,
      () => noon,
      (_, __, callback) => callback(Object.assign(new Error("none"), { code: "ENOTFOUND" }), []),
    );
    expect(await failureFrom(call("jwt", get))).toMatchObject({
      kind: "retryable",
      reason: "the provider could not be reached: ENOTFOUND",
    });
  });
});

describe("a provider that", () => {
  test("does not answer in time may be called again", async () => {
    provider.answer = () => () => undefined;
    expect(await failureFrom(api()("jwt", get))).toMatchObject({
      kind: "retryable",
      reason: "the provider could not be reached: HEADERS_TIMEOUT",
    });
  });

  test("cuts the connection may be called again", async () => {
    provider.answer = () => (response) => response.destroy();
    expect(await failureFrom(api()("jwt", get))).toMatchObject({ kind: "retryable" });
  });

  test("is not there may be called again", async () => {
    const gone = await startTestProvider();
    await gone.close();
    expect(await failureFrom(api(gone.url)("jwt", get))).toEqual({
      kind: "retryable",
      reason: "the provider could not be reached: ECONNREFUSED",
      delayInSeconds: 0,
    });
  });

  test("speaks no HTTP may be called again", async () => {
    provider.answer = () => (response) => response.socket?.end("hello\r\n\r\n");
    expect(await failureFrom(api()("jwt", get))).toMatchObject({ kind: "retryable" });
  });
});
