/** The content coding of a response. */
export type Coding = "identity" | "gzip";

/** Whether a caller accepts gzip. Source: RFC 9110, section 12.5.3. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
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
export function isNotModified(ifNoneMatch: string | undefined, digest: string): boolean {
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

const problems = {
  "bad-request": { status: 400, title: "The request is not understood." },
  forbidden: { status: 403, title: "The caller's subscriber does not get this." },
  "not-found": { status: 404, title: "There is nothing by this name." },
  "version-not-kept": { status: 404, title: "This version is not kept, or was never there." },
  "method-not-allowed": { status: 405, title: "The method is not allowed." },
  "too-large": { status: 413, title: "The data is larger than an invocation can answer." },
  "data-missing": { status: 500, title: "The document's data is not where it was stored." },
  failed: { status: 500, title: "The request could not be answered." },
  unavailable: { status: 503, title: "The data can't be read at this moment." },
} as const;
export type ProblemType = keyof typeof problems;

/** An error in the format of RFC 9457. It quotes no data. */
export type Problem = {
  readonly type: `urn:income-events:problem:${ProblemType}`;
  readonly status: number;
  readonly title: string;
  readonly detail?: string;
  /** The invalid part of the request. */
  readonly field?: string;
  /** URL of the newest version. */
  readonly newest?: string;
};

export function problem(type: ProblemType, detail?: string): Problem {
  const { status, title } = problems[type];
  return {
    type: `urn:income-events:problem:${type}`,
    status,
    title,
    ...(detail !== undefined && { detail }),
  };
}

export function badRequest(field: string, what: string): Problem {
  return { ...problem("bad-request", `${field} ${what}.`), field };
}

/** The same answer for subjects that never existed and for erased ones. */
export const notFound = problem("not-found");

export function versionNotKept(newest: string): Problem {
  return { ...problem("version-not-kept", "The newest version has a message of its own."), newest };
}
