/** Counts how often the same bytes came, of the last bodies that this environment met. */
export class DigestCounter {
  readonly #counts = new Map<string, number>();

  /** @returns how often this digest was counted, this time included */
  count(digest: string): number {
    const count = (this.#counts.get(digest) ?? 0) + 1;
    this.#counts.delete(digest);
    this.#counts.set(digest, count);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > 1_000 && oldest !== undefined) this.#counts.delete(oldest);
    return count;
  }
}
