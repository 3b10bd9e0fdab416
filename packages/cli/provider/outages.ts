import { counted, spanText } from "../core/text.ts";

/** The entries of the provider's history that concern the breaker. */
type Turn = {
  readonly at: string;
  readonly topic: string;
  readonly code: string;
  readonly reason?: string;
};

/** A period in which the provider was down. */
export type Outage = {
  readonly from: string;
  /** Undefined while it lasts. */
  readonly until?: string;
  /** Failed calls and probes in this period. */
  readonly probes: number;
  readonly reason?: string;
};

/** The outages in a history, the latest first. @param turns the latest first */
export function outagesIn(turns: readonly Turn[]): readonly Outage[] {
  const outages: Outage[] = [];
  for (const { topic, code, at, reason } of turns.toReversed()) {
    if (topic !== "breaker") continue;
    const last = outages.at(-1);
    const isOpen = last !== undefined && last.until === undefined;
    if (code === "PROVIDER_BACK") {
      if (isOpen) outages.splice(-1, 1, { ...last, until: at });
    } else if (isOpen) outages.splice(-1, 1, { ...last, probes: last.probes + 1 });
    else outages.push({ from: at, probes: 1, ...(reason !== undefined && { reason }) });
  }
  return outages.toReversed();
}

/** `down for 12m 5s (9 probes): the provider answered 503` */
export function outageText({ from, until, probes, reason }: Outage, now: Date): string {
  const end = until === undefined ? now : new Date(until);
  const span = spanText(Math.max(0, (end.getTime() - Date.parse(from)) / 1000));
  const found = `${counted(probes, "probe")} failed`;
  const how = until === undefined ? `down for ${span} so far` : `down for ${span}`;
  return `${how}, ${found}${reason === undefined ? "" : `: ${reason}`}`;
}
