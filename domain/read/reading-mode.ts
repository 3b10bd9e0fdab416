export const readingModes = ["url", "invoke", "none"] as const;
/** How subscribers read documents: by a function URL, by invoking a function, or only in their messages. */
export type ReadingMode = (typeof readingModes)[number];

/**
 * Regions without function URLs. Source: Lambda developer guide, "Creating and managing Lambda function
 * URLs", November 2026.
 */
const withoutFunctionUrls: readonly string[] = [
  "ap-east-2",
  "ap-south-2",
  "ap-southeast-4",
  "ap-southeast-5",
  "ap-southeast-6",
  "ap-southeast-7",
  "ca-west-1",
  "eu-central-2",
  "eu-south-2",
  "il-central-1",
  "me-central-1",
];

export function hasFunctionUrls(region: string): boolean {
  return !withoutFunctionUrls.includes(region);
}

/** @param region undefined if it is known only at deploy time */
export function readingModeIn(region: string | undefined, chosen?: ReadingMode): ReadingMode {
  return chosen ?? (region === undefined || hasFunctionUrls(region) ? "url" : "invoke");
}

/** URI prefix of documents that are available only in messages. It names them, but does not resolve. */
export const unreadDocuments = "urn:income-events:documents/";
