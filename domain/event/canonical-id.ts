const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(id: string): boolean {
  return uuid.test(id);
}

/** An id as events, keys and digests have it: UUIDs in lower case, for they are the same in either. */
export function canonicalId(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id;
}
