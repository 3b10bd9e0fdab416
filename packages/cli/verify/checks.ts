/** One thing that was checked, and what was seen. */
export type Check = { readonly name: string; readonly passed: boolean; readonly seen: string };

/** A check of so many things: how many are well is seen, then what is wrong. */
export function checkEach(name: string, count: number, problems: readonly string[]): Check {
  const seen = [`${count - problems.length} of ${count}`, ...problems].join("; ");
  return { name, passed: problems.length === 0, seen };
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
