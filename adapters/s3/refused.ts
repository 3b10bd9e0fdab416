import { isFields } from "../../domain/core/parse.ts";

/**
 * Whether S3 refused an object that is there: 403 where the caller may not read it or KMS denies the key, 400 where the key
 * is disabled or gone. Only a caller that may list the bucket can tell: to others S3 says 403 of a missing object, too.
 * Source: Amazon S3 API reference, "GetObject".
 */
export function isRefused(error: unknown): boolean {
  const status = statusOf(error);
  return status === 400 || status === 403;
}

export function statusOf(error: unknown): unknown {
  return isFields(error) && isFields(error.$metadata) ? error.$metadata.httpStatusCode : undefined;
}
