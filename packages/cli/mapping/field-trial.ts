import type { MappingSource } from "../../../domain/event/mapping-source.ts";
import type { LearnedField } from "./names.ts";

/** What one field's source gave. */
export type FieldTrial = {
  readonly field: LearnedField;
  readonly source: MappingSource;
  readonly gave: unknown;
  /** Why it can't be taken. */
  readonly fault?: string;
};
