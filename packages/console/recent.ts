/**
 * Answers again what was asked a moment ago, and asks once for all that wait: so many pages cost no more than one.
 * What was changed just now is asked for anew.
 */
export function recent<T>(
  load: () => Promise<T>,
  seconds: number,
  now: () => Date,
): (isAnew?: boolean) => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | undefined;
  return (isAnew = false) => {
    const at = now().getTime();
    if (!isAnew && last !== undefined && at - last.at < seconds * 1000) return last.value;
    const made = { at, value: load() };
    last = made;
    made.value.catch(() => {
      // A failure is no answer to keep.
      if (last === made) last = undefined;
    });
    return made.value;
  };
}
