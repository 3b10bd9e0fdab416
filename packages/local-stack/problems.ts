import type { LocalStack } from "./stack.ts";

/**
 * Watches for problems that retrying cannot fix.
 * @param patience milliseconds until the work in progress fails
 */
export function watchForProblems(stack: Pick<LocalStack, "problems">, patience: number) {
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const watch = setInterval(() => {
    const problems = problemsOf(stack);
    if (problems.length > 0) reject(new Error(problems.join("\n")));
  }, 250);
  const late = setTimeout(() => reject(new Error(`Not done within ${patience / 60_000} minutes`)), patience);
  // Nobody may be listening yet; a later race receives the rejection.
  broken.catch(() => undefined);
  return {
    /**
     * Resolves with the result of `work`.
     * @throws the problems as soon as there are any, or if `work` fails with them; else the error of `work`
     */
    during: async <T>(work: Promise<T>): Promise<T> => {
      try {
        return await Promise.race([work, broken]);
      } catch (cause) {
        // The failure may arrive before its cause is reported: the cause is what to show.
        const problems = problemsOf(stack);
        throw problems.length === 0 ? cause : new Error(problems.join("\n"), { cause });
      }
    },
    stop: (): void => {
      clearInterval(watch);
      clearTimeout(late);
    },
  };
}

export function problemsOf(stack: Pick<LocalStack, "problems">): readonly string[] {
  const { denials, initErrors, failures } = stack.problems();
  const denied = denials.map(
    ({ principal, action, resource, reason }) => `${principal} may not ${action} on ${resource}: ${reason}`,
  );
  return [...new Set([...denied, ...initErrors, ...failures])];
}
