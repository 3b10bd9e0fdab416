import type { Failure } from "../../domain/core/failures.ts";

/** What became of a task: `void` where there was nothing to do any more. */
export type TaskResult = "done" | "void" | Failure;
