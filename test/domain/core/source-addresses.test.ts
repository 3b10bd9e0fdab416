import { describe, expect, it } from "vitest";
import { parseSourceAddresses } from "../../../domain/core/source-addresses.ts";

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
    "are refused where they are none: %s",
    (value) => {
      expect(() => parseSourceAddresses(value)).toThrow("sourceAddresses:");
    },
  );
});
