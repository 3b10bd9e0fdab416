/** Runs async functions one at a time, in the order of the calls. Each is passed whether it had to wait. */
export type Mutex = <Result>(work: (hasWaited: boolean) => Promise<Result>) => Promise<Result>;

export function mutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  let unfinished = 0;
  return (work) => {
    const hasWaited = unfinished > 0;
    unfinished += 1;
    const result = last
      .then(() => work(hasWaited))
      .finally(() => {
        unfinished -= 1;
      });
    last = result.catch(() => undefined);
    return result;
  };
}
