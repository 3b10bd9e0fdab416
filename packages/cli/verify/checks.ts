/** One thing that was checked, and what was seen. */
export type Check = { readonly name: string; readonly passed: boolean; readonly seen: string };

/** A check that passes where nothing is wrong; what is wrong is seen, else `otherwise`. */
export function checkOf(name: string, problems: readonly string[], otherwise: string): Check {
  return { name, passed: problems.length === 0, seen: problems.join("; ") || otherwise };
}

/** Makes checks; what that throws is one that failed. */
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
