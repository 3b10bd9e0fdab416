/** The next `times` calls that match are answered with `status`. */
export type Fault = {
  /** A path's beginning, or the source of a regular expression that is found in it; unset: every path. */
  readonly path?: string;
  /** Unset: every method. */
  readonly method?: string;
  readonly status: number;
  readonly times: number;
  readonly retryAfterSeconds?: number;
};

export type Faults = {
  /** @throws a range or syntax error that names what is wrong */
  add(fault: Fault): void;
  /** The fault that a call meets; it is counted as met. */
  take(method: string, path: string): Fault | undefined;
};

export function createFaults(): Faults {
  const planned: { readonly fault: Fault; readonly pattern: RegExp; left: number }[] = [];
  return {
    add: (fault) => {
      if (!Number.isInteger(fault.status) || fault.status < 300 || fault.status > 599) {
        throw new RangeError(`a fault's status is between 300 and 599, not ${fault.status}`);
      }
      if (!Number.isInteger(fault.times) || fault.times < 1) {
        throw new RangeError(`a fault happens 1 time or more, not ${fault.times}`);
      }
      planned.push({ fault, pattern: new RegExp(fault.path ?? ""), left: fault.times });
    },
    take: (method, path) => {
      const index = planned.findIndex(
        ({ fault, pattern }) =>
          (fault.method === undefined || fault.method.toUpperCase() === method) && pattern.test(path),
      );
      const found = planned[index];
      if (found === undefined) return undefined;
      found.left -= 1;
      if (found.left === 0) planned.splice(index, 1);
      return found.fault;
    },
  };
}
