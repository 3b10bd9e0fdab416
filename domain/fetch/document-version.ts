import { present } from "../core/parse.ts";
import type { Coverage } from "./coverage.ts";

/** The content of a stored document and when it was read. Without a digest, the provider has no data. */
export type DocumentVersion = Coverage & {
  /** Digest of the uncompressed bytes. */
  readonly digest?: string;
  /**
   * Id and sequence of the message that announced the current content or its removal; absent before the
   * first.
   */
  readonly announced?: number;
};

/**
 * The version after a call. It is written even if nothing changed, because the write completes the call's
 * tasks.
 * @returns `news`: whether to notify subscribers
 */
export function versionAfter(
  known: DocumentVersion | undefined,
  { asOf, by }: Coverage,
  digest: string | undefined,
): DocumentVersion & { readonly news: boolean } {
  const news = digest !== known?.digest;
  // Must increase even if `asOf` decreases because a service's clock was wrong.
  const announced = news ? Math.max(asOf, (known?.announced ?? 0) + 1) : known?.announced;
  return { asOf, by, ...present({ digest, announced }), news };
}

const secondsPerDay = 86_400;

/** When data of a superseded version expires, in epoch seconds. @param days days to keep it */
export function expiryOf(supersededAt: number, days: number): number {
  return Math.ceil(supersededAt / 1000 + days * secondsPerDay);
}
