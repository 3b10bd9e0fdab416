/** Chooses a number below the limit. */
export type Choose = (limit: number) => number;

/**
 * Runs once for every combination of choices, depth first: each run repeats the previous one's choices up to
 * the last that can still change. The run must depend on its choices alone.
 * @returns the number of combinations
 */
export async function everyChoice(run: (choose: Choose) => Promise<void>): Promise<number> {
  const path: { chosen: number; readonly limit: number }[] = [];
  for (let runs = 1; ; runs += 1) {
    let depth = 0;
    await run((limit) => {
      if (depth === path.length) path.push({ chosen: 0, limit });
      depth += 1;
      return path[depth - 1]?.chosen ?? 0;
    });
    path.length = depth;
    while (isExhausted(path.at(-1))) path.pop();
    const last = path.at(-1);
    if (last === undefined) return runs;
    last.chosen += 1;
  }
}

function isExhausted(choice: { readonly chosen: number; readonly limit: number } | undefined): boolean {
  return choice !== undefined && choice.chosen + 1 >= choice.limit;
}
