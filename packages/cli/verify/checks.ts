export type Check = { readonly name: string; readonly passed: boolean; readonly seen: string };

/** A check of several things: how many passed, then the problems. */
export function checkEach(name: string, count: number, problems: readonly string[]): Check {
  const seen = [`${count - problems.length} of ${count}`, ...problems].join("; ");
  return { name, passed: problems.length === 0, seen };
}

/** Runs checks; an exception counts as a failed check. */
export async function attempt(
  name: string,
  work: () => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  try {
    return await work();
  } catch (error) {
    return [{ name, passed: false, seen: String(error) }];
  }
}
