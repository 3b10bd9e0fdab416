/** Ends something after a time, unless that is cleared before; `refresh` begins the time again. */
export type Deadline = { readonly refresh: () => void; readonly clear: () => void };

/**
 * What has come in already counts as in time: a process that was held up, or frozen, finds that its time is over
 * before it looks at its connections.
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
