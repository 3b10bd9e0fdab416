import { isIP } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  ProviderApi,
  privateAddressReason,
  publicLookup,
  type ResolveAll,
} from "../../adapters/provider/provider-api.ts";
import { failureOf } from "../../domain/core/failures.ts";
import { parseSettings, SettingsError } from "../../lib/settings/settings.ts";
import { startTestProvider, type TestProvider } from "../support/test-provider.ts";

const get = { method: "GET", path: "/api/v0.4/users" } as const;
const limits = {
  timeouts: { connectSeconds: 30, headersSeconds: 30, bodySeconds: 30 },
  maxResponseBytes: 10_000,
  allowPrivateAddresses: false,
};
const now = () => new Date();

/** Known ways of disguising an address that only the server can reach, by name. */
const addresses = [
  ["loopback", "127.0.0.1"],
  ["loopback, any of its network", "127.8.9.10"],
  ["loopback, short", "127.1"],
  ["loopback, as one number", "2130706433"],
  ["loopback, in octal", "0177.0.0.1"],
  ["loopback, in hexadecimal", "0x7f.0x0.0x0.0x1"],
  ["loopback, as one number in hexadecimal", "0x7f000001"],
  ["loopback, as one number in octal", "017700000001"],
  ["loopback, octal and decimal mixed", "0177.0.1"],
  ["loopback, with a dot at its end", "127.0.0.1."],
  ["loopback, percent-encoded", "%31%32%37.0.0.1"],
  ["loopback, in full-width digits", "１２７.０.０.１"],
  ["loopback, in circled digits", "①②⑦.⓪.⓪.①"],
  ["loopback, with ideographic dots", "127。0。0。1"],
  ["loopback of IPv6", "[::1]"],
  ["loopback of IPv6, written out", "[0000:0000:0000:0000:0000:0000:0000:0001]"],
  ["unspecified address", "0.0.0.0"],
  ["unspecified address, as one number", "0"],
  ["unspecified address of IPv6", "[::]"],
  ["this network", "0.1.2.3"],
  ["localhost", "localhost"],
  ["localhost, in capitals", "LOCALHOST"],
  ["localhost, with a dot at its end", "localhost."],
  ["localhost, below it", "a.localhost"],
  ["localhost, in full-width letters", "ｌｏｃａｌｈｏｓｔ"],
  ["a private network, 10/8", "10.0.0.1"],
  ["a private network, 172.16/12", "172.31.255.254"],
  ["a private network, 192.168/16", "192.168.0.1"],
  ["a private network, as one number", "3232235521"],
  ["a carrier's network, 100.64/10", "100.64.0.1"],
  ["link-local, with AWS's metadata", "169.254.169.254"],
  ["AWS's metadata, as one number", "2852039166"],
  ["AWS's metadata, in hexadecimal", "0xa9fea9fe"],
  ["AWS's metadata, in octal", "0251.0376.0251.0376"],
  ["AWS's metadata, at IPv6", "[fd00:ec2::254]"],
  ["AWS's metadata, mapped to IPv6", "[::ffff:169.254.169.254]"],
  ["AWS's metadata, mapped to IPv6 in hexadecimal", "[::ffff:a9fe:a9fe]"],
  ["AWS's metadata, IPv4-compatible", "[::a9fe:a9fe]"],
  ["AWS's metadata, by NAT64", "[64:ff9b::169.254.169.254]"],
  ["AWS's metadata, by 6to4", "[2002:a9fe:a9fe::]"],
  ["AWS's metadata, by Teredo", "[2001:0:a9fe:a9fe::]"],
  ["ECS's credentials", "169.254.170.2"],
  ["AWS's time service", "169.254.169.123"],
  ["Alibaba Cloud's metadata", "100.100.100.200"],
  ["Oracle Cloud's metadata", "192.0.0.192"],
  ["link-local of IPv6", "[fe80::1]"],
  ["site-local of IPv6", "[fec0::1]"],
  ["unique local of IPv6", "[fc00::1]"],
  ["translation of a local network", "[64:ff9b:1::7f00:1]"],
  ["a benchmark's network", "198.18.0.1"],
  ["a documentation's network", "203.0.113.1"],
  ["multicast", "224.0.0.1"],
  ["multicast of IPv6", "[ff02::1]"],
  ["broadcast", "255.255.255.255"],
] as const;

/** Names that mean another host than they appear to, without having the form of an address. */
const forms = [
  ["a user before it", "https://provider.example@127.0.0.1"],
  ["a user and a password before it", "https://provider.example:443@169.254.169.254"],
  ["a backslash before it", "https://provider.example\\@127.0.0.1"],
  ["a fragment before it", "https://127.0.0.1#@provider.example"],
  ["a query", "https://127.0.0.1?provider.example"],
  ["a line end", "https://provider.example\r\nx: y"],
  ["a tab in it", "https://127.0\t.0.1"],
  ["a zone", "https://[fe80::1%25eth0]"],
  ["plain http", "http://provider.example"],
  ["a file", "file:///etc/passwd"],
  ["gopher", "gopher://127.0.0.1:70/_"],
  ["data", "data:,x"],
  ["a path that climbs", "https://provider.example/../.."],
  ["a name in punycode's place", "https://prövider.example"],
] as const;

function settingsWith(baseUrl: string): () => unknown {
  const provider = { environment: "production", baseUrls: { production: baseUrl } };
  return () => parseSettings({ production: true, provider }, "stage.json");
}

const resolvingTo =
  (addressesOf: readonly string[]): ResolveAll =>
  (_, __, callback) =>
    callback(
      null,
      addressesOf.map((address) => ({ address, family: isIP(address) })),
    );

const failureFrom = async (call: Promise<unknown>) => {
  const error = await call.then(
    (answer) => expect.fail(`answered ${JSON.stringify(answer)}`),
    (failed: unknown) => failed,
  );
  return failureOf(error);
};

describe("an address of the provider that leads inside is refused", () => {
  it.each(addresses)("at synth and, had it come by a parameter, before a call: %s", async (_, host) => {
    expect(settingsWith(`https://${host}`)).toThrow(SettingsError);
    for (const scheme of ["http", "https"]) {
      const call = new ProviderApi(`${scheme}://${host}:1`, limits, now).send("token", get);
      expect(await failureFrom(call)).toEqual({ type: "permanent", reason: privateAddressReason });
    }
  });

  it.each(forms)("at synth, by its form: %s", (_, baseUrl) => {
    expect(settingsWith(baseUrl)).toThrow(/provider\.baseUrls\.production: /);
  });
});

describe("a name that leads inside, and an answer that does", () => {
  let inside: TestProvider;
  beforeAll(async () => {
    inside = await startTestProvider();
  });
  afterAll(() => inside.close());
  beforeEach(() => {
    inside.requests.length = 0;
    inside.answer = () => ({ json: [] });
  });

  /** A provider whose name resolves to these addresses. */
  const named = (resolved: readonly string[]) =>
    new ProviderApi(`http://name.example:${new URL(inside.url).port}`, limits, now, resolvingTo(resolved));
  const plain = addresses.map(([, host]) => host.replace(/^\[|\]$/g, "")).filter((host) => isIP(host) !== 0);

  it("is refused whatever it resolves to, alone or beside a public address", async () => {
    expect(plain.length).toBeGreaterThan(25);
    for (const address of plain) {
      for (const resolved of [[address], ["93.184.215.14", address]]) {
        expect(await failureFrom(named(resolved).send("token", get)), address).toEqual({
          type: "permanent",
          reason: privateAddressReason,
        });
      }
    }
    expect(inside.requests).toEqual([]);
  });

  it("is checked at each lookup: a name that is bound again after it was found public is refused", () => {
    const answers = [["93.184.215.14"], ["127.0.0.1"]];
    const lookup = publicLookup((...call) => resolvingTo(answers.shift() ?? [])(...call));
    const found: unknown[] = [];
    const look = () => lookup("rebound.example", {}, (...result) => void found.push(result));
    look();
    look();
    expect(found).toEqual([
      [null, "93.184.215.14", 4],
      [expect.objectContaining({ message: privateAddressReason }), []],
    ]);
  });

  it.each([
    ["the metadata", "http://169.254.169.254/latest/meta-data/"],
    ["another scheme", "file:///etc/passwd"],
    ["another host, without a scheme", "//127.0.0.1:1/x"],
    ["another port of its own host", "http://127.0.0.1:1/x"],
    ["a user before its own host", "http://127.0.0.1@169.254.169.254/"],
    ["another host, after backslashes", "\\\\127.0.0.2:1/x"],
    ["its own host by another name", "http://localhost:1/x"],
    ["data", "data:,x"],
    ["no address", "http://["],
  ])("is not followed if an answer redirects or links to %s", async (_, location) => {
    inside.answer = () => ({ status: 301, headers: { location } });
    const call = new ProviderApi(inside.url, { ...limits, allowPrivateAddresses: true }, now);
    expect(await failureFrom(call.send("token", get))).toMatchObject({ type: "permanent", status: 301 });
    expect(await failureFrom(call.send("token", { ...get, link: location }))).toEqual({
      type: "permanent",
      reason: "an answer's link leads to another origin; see provider.baseUrls and provider.paging",
    });
    expect(inside.requests).toHaveLength(1);
  });
});
