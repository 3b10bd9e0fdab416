/** So many dead letters, in words. */
export function deadLettersText(count: number): string {
  return count === 1 ? "1 dead letter" : `${count} dead letters`;
}
