import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPrivateAddress, isPrivateHost, parseSourceAddresses } from "../../../domain/core/addresses.ts";
import { unsupportedPartition } from "../../../domain/core/regions.ts";

describe("an address", () => {
  it.each([
    "100.127.255.255",
    "127.255.255.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "198.19.0.1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "0:0:0:0:0:ffff:a00:1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "fd12:3456::1",
    "fe80::1%eth0",
    "febf::1",
    "FE80::1",
  ])("of this machine, a private network or a link is private: %s", (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  it.each([
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "223.255.255.255",
    "2600:1f18::1",
    "2a00:1450:4001:81b::200e",
    "::ffff:1.1.1.1",
    "64:ff9b::1.1.1.1",
  ])("of the internet is not: %s", (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });

  it.each(["", "localhost", "127.0.0.1.evil.test", "1.1.1", "0x7f000001", "::g"])(
    "that is none counts as private: %j",
    (text) => {
      expect(isPrivateAddress(text)).toBe(true);
    },
  );

  it("is treated the same if written as IPv6", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isPrivateAddress(`::ffff:${address}`)).toBe(isPrivateAddress(address));
        expect(isPrivateAddress(`64:ff9b::${address}`)).toBe(isPrivateAddress(address));
      }),
    );
  });
});

describe("a URL's host", () => {
  it.each([
    "http://localhost",
    "http://LOCALHOST.",
    "http://api.localhost:80",
    "http://127.1",
    "http://2130706433",
    "http://0x7f.0.0.1",
    "http://[::1]",
    "http://[::ffff:127.0.0.1]",
    "https://[fd00::1]:8443",
  ])("is private in any notation: %s", (url) => {
    expect(isPrivateHost(new URL(url).hostname)).toBe(true);
  });

  it.each(["https://provider.test", "https://1.1.1.1", "https://[2600:1f18::1]", "https://localhost.test"])(
    "that is public, or a name, is not: %s",
    (url) => {
      expect(isPrivateHost(new URL(url).hostname)).toBe(false);
    },
  );
});

describe("source addresses", () => {
  it("that are not set allow everybody", () => {
    expect(parseSourceAddresses(undefined)("198.51.100.1")).toBe(true);
  });

  it.each([
    ["203.0.113.7", true],
    ["203.0.113.8", false],
    ["198.51.100.0", true],
    ["198.51.100.255", true],
    ["198.51.101.0", false],
    ["2001:db8::1", true],
    ["2001:0db8:0000::ffff", true],
    ["2001:db9::1", false],
    ["", false],
    ["unknown", false],
    ["203.0.113.7, 198.51.100.1", false],
  ])("allow their members, however written, and nobody else: %s", (address, isAllowed) => {
    const allows = parseSourceAddresses(["203.0.113.7", "198.51.100.0/24", "2001:db8::/32"]);
    expect(allows(address)).toBe(isAllowed);
  });

  it.each(["everybody", [["10.0.0.0/8"], "x"], ["example.com"], [""]])(
    "are refused if invalid: %s",
    (value) => {
      expect(() => parseSourceAddresses(value)).toThrow("sourceAddresses:");
    },
  );
});

it.each([
  ["cn-north-1", "China"],
  ["us-gov-west-1", "GovCloud"],
])("the region %s is in an unsupported partition, which is named: %s", (region, name) => {
  expect(unsupportedPartition(region)).toContain(name);
});

it.each(["eu-central-1", "us-east-1", "me-central-1"])(
  "the region %s is in a supported partition",
  (region) => {
    expect(unsupportedPartition(region)).toBeUndefined();
  },
);
