/** So many dead letters, in words. */
export function lettersText(count: number): string {
  return count === 1 ? "1 dead letter" : `${count} dead letters`;
}
