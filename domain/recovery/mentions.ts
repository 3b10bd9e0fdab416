/** Shorter ids may be part of anything, so that they count only where JSON or a name sets them off. */
const unmistakableLength = 8;

/**
 * Whether a text names one of some ids, as JSON writes them: as a text, within text in JSON, as a number, or as a
 * part of a name such as `account/<id>/income`. An id within a longer one is not named.
 * @returns a test that can be asked again and again
 */
export function mentions(ids: readonly string[]): (text: string) => boolean {
  if (ids.length === 0) return () => false;
  const pattern = new RegExp(ids.map(patternOf).join("|"));
  return (text) => pattern.test(text);
}

function patternOf(id: string): string {
  // As it is, and as JSON escapes it.
  const forms = [...new Set([id, JSON.stringify(id).slice(1, -1)])].map(RegExp.escape).join("|");
  return id.length < unmistakableLength
    ? `(?<=["/])(?:${forms})(?=["/\\\\])`
    : `(?<![\\w-])(?:${forms})(?![\\w-])`;
}
