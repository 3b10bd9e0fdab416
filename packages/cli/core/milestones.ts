/** Reports a growing count each time that it passes another multiple of `step`. */
export function milestones(step: number, report: (count: number) => void): (count: number) => void {
  let passed = 0;
  return (count) => {
    const now = Math.floor(count / step);
    if (now <= passed) return;
    passed = now;
    report(count);
  };
}
