/**
 * How often a dead letter was redriven, and by which run last. It is stored in one message attribute, `3
 * <run>`. Our own functions pass it on and SQS keeps it, so that a message that fails again still has it.
 */
export type RedriveCount = { readonly count: number; readonly run: string | undefined };

/** @param text value of the attribute; an invalid one counts as never redriven */
export function readRedriveCount(text: string | undefined): RedriveCount {
  const [, count = "0", run] = /^(\d{1,9}) (\S+)$/.exec(text ?? "") ?? [];
  return { count: Number(count), run };
}

/** The attribute's value for the next redrive. */
export function nextRedriveCount(text: string | undefined, run: string): string {
  return `${readRedriveCount(text).count + 1} ${run}`;
}
