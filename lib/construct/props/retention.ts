// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.
import type { Duration } from "aws-cdk-lib";

/** The settings `retention.*`. */
export interface RetentionProps {
  /**
   * So long events are kept, and duplicates of them recognized. From 4 to 3650.
   * @default 30
   */
  readonly eventsDays?: number | Duration;
  /**
   * So long it stays there. From 14 to 3650.
   * @default 90
   */
  readonly failuresDays?: number | Duration;
  /**
   * So long the archive keeps a dead letter. From 14 to 3650.
   * @default 90
   */
  readonly archiveDays?: number | Duration;
  /**
   * So long versions of documents are kept after newer ones took their place; 0: only the newest. From 0 to 3650.
   * @default 0
   */
  readonly documentVersionsDays?: number | Duration;
  /**
   * So long the table keeps what operators did; unset: without limit. From 1 to 3650.
   * @default - not set
   */
  readonly auditDays?: number | Duration;
  /**
   * So long logs are kept.
   * @default 30
   */
  readonly logsDays?: 1 | 3 | 5 | 7 | 14 | 30 | 60 | 90 | 120 | 150 | 180 | 365 | Duration;
}
