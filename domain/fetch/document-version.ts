import { present } from "../core/parse.ts";
import type { Coverage } from "./coverage.ts";

/** Which content a stored document has, and since when; none where the provider has none. */
export type DocumentVersion = Coverage & {
  /** Of the uncompressed bytes. */
  readonly digest?: string;
  /** The id and sequence of the message that announced the content, or that it is gone; absent where there was none yet. */
  readonly announced?: number;
};

/**
 * The document after a call, also where nothing changed: its tasks end with the write.
 * @returns `news`: whether subscribers are to be notified
 */
export function versionAfter(
  known: DocumentVersion | undefined,
  { asOf, by }: Coverage,
  digest: string | undefined,
): DocumentVersion & { readonly news: boolean } {
  const news = digest !== known?.digest;
  // Rises even where `asOf` falls, since a service's clock had been wrong.
  const announced = news ? Math.max(asOf, (known?.announced ?? 0) + 1) : known?.announced;
  return { asOf, by, ...present({ digest, announced }), news };
}

const secondsPerDay = 86_400;

/** When what belongs to a version expires, in epoch seconds. @param days so long after it was superseded */
export function expiryOf(supersededAt: number, days: number): number {
  return Math.ceil(supersededAt / 1000 + days * secondsPerDay);
}
