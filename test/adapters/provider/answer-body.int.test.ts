import { describe, expect, test } from "vitest";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import { Unauthorized } from "../../../domain/fetch/answer.ts";
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
    const isCut = Promise.withResolvers<void>();
    fixture.provider.answer = () => (response) => {
      response.on("close", isCut.resolve).writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(1_000)));
      };
      response.on("drain", more);
      more();
    };
    expect(await failureFrom(api().send("jwt", get))).toMatchObject({ type: "permanent" });
    await isCut.promise;
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

  test("that breaks off is retryable", async () => {
    fixture.provider.answer = () => (response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("x", () => response.destroy());
    };
    expect(await failureFrom(api().send("jwt", get))).toMatchObject({
      type: "retryable",
      reason: expect.stringMatching(/^the provider's answer broke off: /),
    });
  });

  test("that stalls is retryable", async () => {
    fixture.provider.answer = () => (response) => {
      response.writeHead(200);
      response.write("x");
    };
    expect(await failureFrom(api().send("jwt", get))).toMatchObject({
      type: "retryable",
      reason: "the provider's answer broke off: nothing more came in time (BODY_TIMEOUT)",
    });
  });
});
