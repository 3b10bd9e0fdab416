import { FailureError } from "../../../domain/core/failures.ts";
import { must } from "../target.ts";

/** Runs code that may fail with a failure of ours, which says why. @returns undefined where it did */
export function failsAsSaid<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    checkFailure(error);
    return undefined;
  }
}

/** The same for what takes its time. */
export async function failsAsSaidLater<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    checkFailure(error);
    return undefined;
  }
}

function checkFailure(error: unknown): void {
  if (!(error instanceof FailureError)) throw error;
  const { reason } = error.failure;
  must(reason !== "", "a failure says nothing");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  must(!/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(reason), "a reason breaks its line");
}
