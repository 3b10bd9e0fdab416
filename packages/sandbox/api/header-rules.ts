import { validateHeaderName, validateHeaderValue } from "node:http";

/** Connection headers, which would break the call. */
const reservedHeaders = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/** @throws a range error naming a header that cannot be sent with a delivery, and the reason */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (reservedHeaders.has(name.toLowerCase())) {
      throw new RangeError(`headers.${name}: is set by the service itself`);
    }
    if (!isSendable(name, value)) {
      throw new RangeError(
        `headers: ${JSON.stringify(name)} is no valid header name, or its value has line breaks`,
      );
    }
  }
}

function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
