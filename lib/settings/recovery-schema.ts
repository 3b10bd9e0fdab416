import { section, text, wholeNumber } from "./setting-types.ts";

/** Backups that survive the loss of the region or the account. */
export const recoverySchema = section({
  vaultArn: text(
    /^arn:[a-z-]+:backup:[a-z0-9-]+:\d{12}:backup-vault:[A-Za-z0-9_-]{2,50}$/,
    "write the ARN of a vault of AWS Backup in another region or account",
  ),
  everyHours: wholeNumber(1, 24).default(24),
  /** Erased data stays in backups for this long. */
  keepDays: wholeNumber(1, 3_650).default(35),
}).exactOptional();
