import { isFields } from "../../domain/core/parse.ts";

/**
 * Whether S3 refused an existing object: 403 if the caller may not read it or KMS denies the key, 400 if the key is
 * disabled or deleted. Only a caller that may list the bucket can tell; for others, S3 answers 403 for a missing
 * object too.
 * Source: Amazon S3 API reference, "GetObject".
 */
export function isRefused(error: unknown): boolean {
  const status = statusOf(error);
  return status === 400 || status === 403;
}

export function statusOf(error: unknown): unknown {
  return isFields(error) && isFields(error.$metadata) ? error.$metadata.httpStatusCode : undefined;
}
