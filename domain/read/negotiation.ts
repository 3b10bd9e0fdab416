/** How a document's bytes are sent. */
export type Coding = "identity" | "gzip";

/** Whether a caller takes gzip. Source: RFC 9110, section 12.5.3. */
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

/** The strong tag of a document's bytes as they are sent: one for each coding. @param digest of the provider's bytes */
export function entityTag(digest: string, coding: Coding): string {
  return coding === "identity" ? `"${digest}"` : `"${digest}-${coding}"`;
}

/**
 * Whether a caller has the bytes already, in whatever coding: `If-None-Match` compares weakly, and both stand for the
 * same data. Source: RFC 9110, section 13.1.2.
 */
export function isKnown(ifNoneMatch: string | undefined, digest: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.some(
    (tag) => tag === "*" || tag === entityTag(digest, "identity") || tag === entityTag(digest, "gzip"),
  );
}

/** @param sha256 in hex. Source: RFC 9530, section 3 */
export function reprDigest(sha256: string): string {
  return `sha-256=:${Buffer.from(sha256, "hex").toString("base64")}:`;
}
