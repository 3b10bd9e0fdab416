import { explain } from "@income-events/local-stack/explain.ts";

const started = performance.now();
const shownFaults = 20;

/** A line with the seconds since the start. */
export function timed(step: string): string {
  return `${((performance.now() - started) / 1_000).toFixed(1).padStart(6)} s  ${step}\n`;
}

export function printFaults(faults: readonly string[]): void {
  for (const text of faults.slice(0, shownFaults)) process.stdout.write(`  ! ${text.slice(0, 400)}\n`);
  const more = faults.length - shownFaults;
  if (more > 0) process.stdout.write(`  ! and ${more} more\n`);
}

/**
 * Runs a program to its end and reports its errors.
 * @param main receives a promise that resolves when the operator interrupts
 * @returns the exit code
 */
export async function runProgram(main: (interrupted: Promise<undefined>) => Promise<number>): Promise<void> {
  const interrupted = new Promise<undefined>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(signal, () => resolve(undefined));
  });
  try {
    process.exitCode = await main(interrupted);
    // Work that an interrupted run leaves behind ends with this process.
    if (process.exitCode === 130) process.exit();
  } catch (error) {
    process.stderr.write(`\n${explain(error)}\n`);
    process.exitCode = 1;
  }
}
