/** A running timeout. `refresh` restarts it; `clear` cancels it. */
export type Deadline = { readonly refresh: () => void; readonly clear: () => void };

/**
 * Calls `end` after a time. Data that has already arrived counts as in time: a process that was frozen sees its
 * timers expire before it reads its connections.
 */
export function endAfter(milliseconds: number, end: () => void): Deadline {
  let lastLook: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    lastLook = setImmediate(end);
  }, milliseconds);
  return {
    refresh: () => {
      clearImmediate(lastLook);
      timer.refresh();
    },
    clear: () => {
      clearImmediate(lastLook);
      clearTimeout(timer);
    },
  };
}
