/**
 * What a dead letter that was redriven carries: how often, and by which run last. It is one message attribute, `3
 * <run>`, which our own functions hand on and SQS itself keeps, so that what fails again comes back with it.
 */
export type RedriveCount = { readonly count: number; readonly run: string | undefined };

/** @param text of the attribute; whatever is none of ours counts as never redriven */
export function readRedriveCount(text: string | undefined): RedriveCount {
  const [, count = "0", run] = /^(\d{1,9}) (\S+)$/.exec(text ?? "") ?? [];
  return { count: Number(count), run };
}

/** The attribute of a dead letter that a run redrives. */
export function nextRedriveCount(text: string | undefined, run: string): string {
  return `${readRedriveCount(text).count + 1} ${run}`;
}
