/** Runs work of the same key one after the other, in the order of the calls. */
export type InTurn = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

export function turns(): InTurn {
  const ends = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const result = (ends.get(key) ?? Promise.resolve()).then(work);
    const end = result.catch(() => undefined);
    ends.set(key, end);
    try {
      return await result;
    } finally {
      if (ends.get(key) === end) ends.delete(key);
    }
  };
}
