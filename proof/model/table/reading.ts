import type { DeliveredTask, PlannedRead } from "../../../domain/fetch/coverage.ts";
import type { DocumentTask } from "../../../domain/fetch/task.ts";
import type { Content, Name } from "./provider.ts";
import type { TaskMessage } from "./retry.ts";
import type { StoredDocument } from "./table.ts";

export type Delivered = DeliveredTask & { readonly message: TaskMessage; readonly task: DocumentTask };

/** What was read for a document, and for which tasks. */
export type Reading = {
  readonly name: Name;
  readonly plan: PlannedRead<Delivered>;
  readonly stored: StoredDocument | undefined;
  readonly content: Content;
  readonly calledAt: number;
  /** When what was known before the call was read: it is nothing that the pipeline knows. */
  readonly began: number;
  /** By the clock of the Lambda that called. */
  readonly fetchedAt: number;
};
