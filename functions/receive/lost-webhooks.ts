/** Maximum number of body digests kept per execution environment. */
const maxDigests = 1_000;
const betweenRequestsInMillis = 3_600_000;

/** Counts webhooks whose bodies could not be kept, within one execution environment. */
export class LostWebhooks {
  readonly #now: () => Date;
  readonly #request: (() => Promise<void>) | undefined;
  readonly #counts = new Map<string, number>();
  #requestedAt = Number.NEGATIVE_INFINITY;

  /** @param request requests a reconciliation; absent if the provider has no list of the kind */
  constructor(now: () => Date, request: (() => Promise<void>) | undefined) {
    this.#now = now;
    this.#request = request;
  }

  /** @returns how often this digest was counted, including this call */
  count(digest: string): number {
    const count = (this.#counts.get(digest) ?? 0) + 1;
    this.#counts.delete(digest);
    this.#counts.set(digest, count);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > maxDigests && oldest !== undefined) this.#counts.delete(oldest);
    return count;
  }

  /** Requests a reconciliation at most once an hour. If that fails, the provider's next retry does. */
  async requestReconciliation(): Promise<void> {
    if (this.#request === undefined) return;
    const at = this.#now().getTime();
    if (at - this.#requestedAt < betweenRequestsInMillis) return;
    this.#requestedAt = at;
    try {
      await this.#request();
    } catch {
      this.#requestedAt = Number.NEGATIVE_INFINITY;
    }
  }
}
