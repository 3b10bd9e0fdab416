import { isIP } from "node:net";
import { beforeEach, describe, expect, test } from "vitest";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import { failureFrom, get, limits, noon, providerApiFixture } from "./provider-api-fixture.ts";

const fixture = providerApiFixture();
const { api } = fixture;

describe("a private address", () => {
  const publicOnly = { ...limits, allowPrivateAddresses: false };
  const refused = {
    type: "permanent",
    reason:
      "the provider's address is private; correct provider.baseUrls, or set provider.allowPrivateAddresses to true",
  };
  /** The provider under a name, and what that name is said to resolve to. */
  function named(addresses: readonly string[], scheme = "http") {
    const asked: string[] = [];
    const { port } = new URL(fixture.provider.url);
    const call = new ProviderApi(
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
    fixture.provider.answer = () => ({ json: [] });
  });

  test.each([
    ["http://127.0.0.1:1"],
    ["http://[::1]:1"],
    ["http://[::ffff:7f00:1]:1"],
    ["http://localhost:1"],
    ["https://169.254.169.254"],
    ["https://2130706433"],
  ])("in the settings is refused before anything is sent: %s", async (baseUrl) => {
    expect(await failureFrom(new ProviderApi(baseUrl, publicOnly, () => noon).send("jwt", get))).toEqual(
      refused,
    );
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
      expect(await failureFrom(call.send("jwt", get))).toEqual(refused);
      // Asked once: what is connected to is what was evaluated.
      expect(asked).toEqual(["provider.test"]);
    }
    expect(fixture.provider.requests).toEqual([]);
  });

  test("is called where the settings allow it", async () => {
    expect(await api().send("jwt", get)).toMatchObject({ found: true, text: "[]" });
  });

  test("of a name that does not resolve may be asked for again", async () => {
    const call = new ProviderApi(
      "http://provider.test:1",
      publicOnly,
      () => noon,
      (_, __, callback) => callback(Object.assign(new Error("none"), { code: "ENOTFOUND" }), []),
    );
    expect(await failureFrom(call.send("jwt", get))).toMatchObject({
      type: "retryable",
      reason: "the provider could not be reached: its name is unknown (ENOTFOUND)",
    });
  });
});
