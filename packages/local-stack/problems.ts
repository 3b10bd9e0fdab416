import type { LocalStack } from "./stack.ts";

/** Looks out for problems that no retry fixes while something else goes on. */
export type Watch = {
  /**
   * What `work` comes to.
   * @throws the problems, as soon as there are any or `work` fails with them; else what `work` throws
   */
  during<T>(work: Promise<T>): Promise<T>;
  stop(): void;
};

/** @param patience milliseconds after which all that is going on fails */
export function watchForProblems(stack: Pick<LocalStack, "problems">, patience: number): Watch {
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const watch = setInterval(() => {
    const problems = problemsOf(stack);
    if (problems.length > 0) reject(new Error(problems.join("\n")));
  }, 250);
  const late = setTimeout(() => reject(new Error(`Not done within ${patience / 60_000} minutes`)), patience);
  // Whoever races with it learns of it; nobody may be listening yet.
  broken.catch(() => undefined);
  return {
    during: async (work) => {
      try {
        return await Promise.race([work, broken]);
      } catch (cause) {
        // What failed may be the quicker one to report: the reason is what is wrong behind it.
        const problems = problemsOf(stack);
        throw problems.length === 0 ? cause : new Error(problems.join("\n"), { cause });
      }
    },
    stop: () => {
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
