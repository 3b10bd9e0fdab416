const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(id: string): boolean {
  return uuid.test(id);
}

/** An id in the form that events, keys and digests use: UUIDs in lower case, because case does not matter. */
export function canonicalId(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id;
}
