// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.
import type { Duration } from "aws-cdk-lib";

/** The settings `retention.*`. */
export interface RetentionProps {
  /**
   * Days to keep events. Duplicates are recognized for this long. From 4 to 3650.
   * @default 30
   */
  readonly eventsDays?: number | Duration;
  /**
   * Days to keep changes in the failures bucket. From 14 to 3650.
   * @default 90
   */
  readonly failuresDays?: number | Duration;
  /**
   * Days for which the archive keeps a dead letter. From 14 to 3650.
   * @default 90
   */
  readonly archiveDays?: number | Duration;
  /**
   * Days to keep superseded versions of documents; 0 keeps only the newest. From 0 to 3650.
   * @default 0
   */
  readonly documentVersionsDays?: number | Duration;
  /**
   * Days to keep the record of what operators did in the table. If unset, it never expires. From 1 to 3650.
   * @default - not set
   */
  readonly auditDays?: number | Duration;
  /**
   * Days to keep logs.
   * @default 30
   */
  readonly logsDays?: 1 | 3 | 5 | 7 | 14 | 30 | 60 | 90 | 120 | 150 | 180 | 365 | Duration;
}
