/** What must not be done, for comparison: it ends at the first character that differs. */
export function naiveComparison(secret: string): (presented: string) => boolean {
  return (presented) => {
    for (let at = 0; at < secret.length; at += 1) {
      if (presented.charCodeAt(at) !== secret.charCodeAt(at)) return false;
    }
    return presented.length === secret.length;
  };
}
