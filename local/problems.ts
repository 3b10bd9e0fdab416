import type { LocalStack } from "./stack.ts";

/**
 * Rejects as soon as there is a problem that no retry mends, or after all patience is used up.
 * @param patience milliseconds
 */
export function watchForProblems(
  stack: LocalStack,
  patience: number,
): { readonly broken: Promise<never>; stop(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const watch = setInterval(() => {
    const problems = problemsOf(stack);
    if (problems.length > 0) reject(new Error(problems.join("\n")));
  }, 250);
  const late = setTimeout(() => reject(new Error(`Not done within ${patience / 60_000} minutes`)), patience);
  // Whoever races with it learns of it; nobody may be listening yet.
  promise.catch(() => undefined);
  return {
    broken: promise,
    stop: () => {
      clearInterval(watch);
      clearTimeout(late);
    },
  };
}

export function problemsOf(stack: LocalStack): readonly string[] {
  const { denials, initErrors, failures } = stack.problems();
  const denied = denials.map(
    ({ principal, action, resource, reason }) => `${principal} may not ${action} on ${resource}: ${reason}`,
  );
  return [...new Set([...denied, ...initErrors, ...failures])];
}
