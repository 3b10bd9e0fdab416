/** Maximum number of body digests kept per execution environment. */
const maxDigests = 1_000;
const betweenRequestsInMillis = 3_600_000;

type Dependencies = {
  /** Absent if the provider has no list of the kind. */
  readonly requestReconciliation?: () => Promise<void>;
  readonly now: () => Date;
};

/** Counts webhooks whose bodies could not be kept, within one execution environment. */
export class LostWebhooks {
  readonly #dependencies: Dependencies;
  readonly #counts = new Map<string, number>();
  #requestedAt = Number.NEGATIVE_INFINITY;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
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
    const { requestReconciliation, now } = this.#dependencies;
    if (requestReconciliation === undefined) return;
    const at = now().getTime();
    if (at - this.#requestedAt < betweenRequestsInMillis) return;
    this.#requestedAt = at;
    try {
      await requestReconciliation();
    } catch {
      this.#requestedAt = Number.NEGATIVE_INFINITY;
    }
  }
}
