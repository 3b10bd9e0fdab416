import type { logLevels } from "../../functions/runtime/log.ts";

/** Remedy for each code above INFO. The type requires one for each new code. */
export const remedies: Readonly<Record<keyof typeof logLevels, string>> = {
  WEBHOOK_UNREADABLE: "`dlq list` shows how many: ask the provider; `dlq purge` once nobody needs them",
  WEBHOOK_NOT_KEPT:
    "reconciliation recovers the data. Lines with `count` 1 are different bodies, others are retries: ask the provider why it sends invalid JSON, or a wrong `Content-Encoding`",
  WEBHOOK_REFUSED:
    "a few come from strangers. Many for the secret: `status --section webhooks`, then `webhooks register`; for the source address or the size: the setting `webhooks.sourceAddresses` or `webhooks.maxBodyBytes`",
  WEBHOOK_SECRET_EMPTY: "`secret rotate`",
  WEBHOOK_SECRET_STALE:
    "nothing if it is short. After 15 minutes webhooks get 503: check AWS's health page for Secrets Manager; `reason` names its error",
  WEBHOOK_FAILED:
    "nothing while it is rare: the provider sends again for three days. `reason` names AWS's error",
  ATTRIBUTE_LEFT_OUT:
    "`mapping try` with such a webhook; correct the expression of the attribute `name` in `mapping.users.attributes`, or send the provider a shorter text",
  MESSAGE_REJECTED:
    "`dlq show QUEUE`: see [dead-letters.md](../operate/dead-letters.md) for the remedy by reason",
  MESSAGE_FAILED:
    "nothing while it is rare. An event becomes a dead letter after 12 hours of retries, a call after 1000 receives",
  TASK_POSTPONED: "nothing: it waits for the provider, its rate or a token; `status` shows the backlog",
  START_UNANSWERED:
    "if there are many, the provider's endpoint webhooks do not arrive: `status --section webhooks`",
  PROVIDER_DOWN:
    "nothing: the pipeline probes it, and makes the waiting calls when it is back. [outages.md](../operate/outages.md)",
  RECORD_FAILED:
    "nothing while it is rare. The same `messageId` for hours: `status`; changes that the relay gives up are in the failures bucket, and `repair` relays them again",
  RECORD_PARKED:
    "correct what `reason` says, then `repair --failures` hands the change to the relay again: [runbook](../operate/runbook.md#undelivered-changes)",
  ERASURE_HELD:
    "nothing while the hold lasts. After `hold clear`: `erase user`; counsel may decide for `--despite-hold` before",
  SUBSCRIBER_PARKED:
    "nothing: the relay sends them again every 5 minutes. Messages from the eraser are in the dead-letter queue: `dlq redrive subscriber/NAME`",
  SUBSCRIBER_UNREACHABLE:
    "restore the queue, its policy or its key: `reason` names what SQS answered. Then they are resent automatically: [runbook](../operate/runbook.md#undelivered-changes)",
  READ_REFUSED:
    "a few come from a reader that requests too much. Many: `status --section subscribers` shows the filter; correct its `types` or `principals`, or stop the caller that `principal` names",
  READ_FAILED: "nothing while it is rare: the caller tries again. `reason` names AWS's error",
  DOCUMENT_DATA_MISSING:
    "`reconcile now`, or wait for the subject's next event: the data is read again from the provider. Find out who deletes from the bucket",
  TOKEN_STILL_VALID:
    "the provider refuses a path for missing rights, not for the token: see the reasons of TASK_POSTPONED",
  TOKEN_UNPROVEN: "nothing: `reason` names the provider's failure; each run retries the token",
  TOKEN_DISCARDED: "`token set` before the current token expires",
  TOKEN_OVERTAKEN: "nothing: the next run decides",
  TOKEN_UNCHANGED: "if repeated, the provider does not renew it: `token set` before it expires",
  TOKEN_SHORT_LIVED: "lower `token.refreshEveryMinutes`",
  TOKEN_NEAR_END: "`token set`; the lines before it say why it was not refreshed",
  TOKEN_REFUSED: "`token set`",
  TOKEN_MISSING: "`token set`",
  CANARY_MISSING:
    "`doctor`; `reason` says whether the webhook was refused or did not arrive: [runbook](../operate/runbook.md#canary-missing)",
  WEBHOOKS_NOT_REGISTERED: "`token set`, then `webhooks register`",
  ARCHIVING_FAILED:
    "`reason` names AWS's error; the next run tries again, two days before the first dead letter expires",
  DELETIONS_HELD:
    "ask the provider whether these accounts are gone. If so, `reconcile accept-deletions`; if not, nothing: [runbook](../operate/runbook.md#deletions-held)",
  WEBHOOKS_MAY_BE_LOST:
    "nothing: reconciliation recovers them. If repeated, find out why webhooks fail: `npx income-events doctor`",
  RECONCILIATION_PAUSED:
    "nothing: the next tick continues. For hours: the provider or its rate, see `reason`",
  RECONCILIATION_SKIPPED:
    "many: `reconcile.users.*`, `reconcile.accounts.*` or `provider.paging` does not fit the provider's lists",
  RECONCILIATION_FAILED: "`reason` names the setting or the answer; the next run starts again",
  RECONCILIATION_OVERDUE:
    "`RECONCILIATION_PAUSED` says why runs do not end; a slow list: raise `reconcile.everyHours`",
};
