/** The content coding of a response. */
export type Coding = "identity" | "gzip";

/** Whether a caller accepts gzip. Source: RFC 9110, section 12.5.3. */
export function takesGzip(acceptEncoding: string | undefined): boolean {
  const weights = new Map(
    (acceptEncoding ?? "").split(",").map((each) => {
      const [name = "", ...parameters] = each
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/);
      const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
      return [name, weight === undefined ? 1 : Number(weight)] as const;
    }),
  );
  return (weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0) > 0;
}

/** The strong entity tag of a document in one coding. @param digest digest of the provider's bytes */
export function entityTag(digest: string, coding: Coding): string {
  return coding === "identity" ? `"${digest}"` : `"${digest}-${coding}"`;
}

/**
 * Whether a caller already has the data, in either coding. `If-None-Match` uses weak comparison, and both
 * codings represent the same data. Source: RFC 9110, section 13.1.2.
 */
export function isKnown(ifNoneMatch: string | undefined, digest: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.some(
    (tag) => tag === "*" || tag === entityTag(digest, "identity") || tag === entityTag(digest, "gzip"),
  );
}

/** @param sha256 digest in hex. Source: RFC 9530, section 3 */
export function reprDigest(sha256: string): string {
  return `sha-256=:${Buffer.from(sha256, "hex").toString("base64")}:`;
}
