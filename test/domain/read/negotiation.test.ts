import { describe, expect, it } from "vitest";
import { acceptsGzip, entityTag, isNotModified, reprDigest } from "../../../domain/read/problem.ts";

const digest = "ab".repeat(32);

describe("how a document is sent", () => {
  it.each([
    [undefined, false],
    ["", false],
    ["gzip", true],
    ["deflate, GZIP;q=0.5", true],
    ["gzip;q=0", false],
    ["gzip; q=0, *", false],
    ["*", true],
    ["br, identity", false],
    ["x-gzip", true],
    [" gzip ; q=0.1 ", true],
    ["gzip;level=9;q=0", false],
    ["identity, *;q=0", false],
  ])("is compressed if the caller accepts it: %j: %s", (acceptEncoding, expected) => {
    expect(acceptsGzip(acceptEncoding)).toBe(expected);
  });

  it.each([
    [undefined, false],
    [`"${digest}"`, true],
    [`"${digest}-gzip"`, true],
    [`"other", W/"${digest}"`, true],
    ["*", true],
    ['"other"', false],
  ])("is not sent to a caller that has it: %s: %s", (ifNoneMatch, expected) => {
    expect(isNotModified(ifNoneMatch, digest)).toBe(expected);
  });

  it("has a strong tag for each coding, and the digest of what is sent", () => {
    expect(entityTag(digest, "identity")).not.toBe(entityTag(digest, "gzip"));
    expect(reprDigest(digest)).toBe(`sha-256=:${Buffer.from(digest, "hex").toString("base64")}:`);
  });
});
