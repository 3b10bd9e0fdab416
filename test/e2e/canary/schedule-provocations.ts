import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { type CanaryDriver, fewReasons, type Provocations } from "./canary-driver.ts";

/** Provocations of the codes of reconciliation, erasure and the archive, in order. */
export function scheduleProvocations({
  stage,
  plant,
  plantSecret,
  invoke,
  send,
  account,
  during,
  archiveUntil,
  archivedReasons,
  page,
  erased,
  erase,
  reconcile,
  listed,
}: CanaryDriver) {
  return {
    CANARY_ARRIVED: async () => expect(await invoke(/^Canary/)).toMatchObject({ kind: "returned" }),
    CANARY_MISSING: async () => {
      const queue = [...stage().stack.queues.values()].find((each) =>
        each.logicalId.startsWith("Canary"),
      )?.arn;
      const end = stage().fails(/^Relay/, "sqs:SendMessageBatch", { errorType: "AccessDenied" }, queue);
      await during(end, "CANARY_MISSING", () => invoke(/^Canary/));
    },
    RECONCILIATION_PAUSED: async () => {
      for (const status of [503, 200, 202])
        await during(
          stage().answers(/users(\?|$)/, () => page(status)),
          "RECONCILIATION_PAUSED",
          reconcile,
        );
    },
    RECONCILIATION_FAILED: async () => {
      for (const answer of [
        () => page(400),
        () => ({ json: { data: [{ name: plantSecret("a user without an id") }] } }),
      ]) {
        await during(stage().answers(/users(\?|$)/, answer), "RECONCILIATION_FAILED", reconcile);
      }
    },
    RECONCILIATION_OVERTAKEN: async () => {
      const end = stage().fails(/^Reconcil/, "dynamodb:PutItem", {
        errorType: "ConditionalCheckFailedException",
      });
      await during(end, "RECONCILIATION_OVERTAKEN", reconcile);
    },
    RECONCILIATION_SKIPPED: async () => {
      const data = () => [listed(), { id: plant("a listed user's id that is no UUID") }];
      const ends = [
        stage().answers(/users(\?|$)/, () => ({ json: { data: data(), next: null } })),
        stage().answers(/users\/.*\/accounts/, () => page(400)),
      ];
      await during(() => ends.forEach((end) => void end()), "RECONCILIATION_SKIPPED", reconcile);
    },
    RECONCILED: async () => {
      const end = stage().answers(/users(\?|$)/, () => ({ json: { data: [listed()], next: null } }));
      await during(end, "RECONCILED", reconcile);
    },
    RECONCILIATION_OVERDUE: "twice the time between two runs is days",
    WEBHOOKS_MAY_BE_LOST: "webhooks must have failed until some minutes ago",
    DELETIONS_FOUND: "two scheduled runs in a row are hours apart",
    DELETIONS_HELD: "two scheduled runs in a row are hours apart",
    ERASED: () => erase(erased),
    ARRIVED_LATE: () => send("accounts", account("update_account", { user_id: erased })),
    ERASED_AGAIN: () => erase(randomUUID()),
    ERASURE_HELD: async () => {
      const held = randomUUID();
      // Stored with the hold on an operator's request, but never logged.
      await stage().hold({ kind: "user", id: held }, plant("the reason of a legal hold"));
      await erase(held);
    },
    ARCHIVING_FAILED: async () => {
      await during(
        stage().fails(/^.*Archive/, "s3:PutObject", { status: 403, errorType: "AccessDenied" }),
        "ARCHIVING_FAILED",
        () => archiveUntil("ARCHIVING_FAILED"),
      );
    },
    DEAD_LETTERS_ARCHIVED: async () => {
      await archiveUntil("DEAD_LETTERS_ARCHIVED");
      // Dead letters that were just searched are hidden for a while, so the number that a run finds varies.
      await eventually(async () => {
        await invoke(/Archive/, { beforeEndSeconds: 100_000_000 });
        expect((await archivedReasons()).length).toBeGreaterThan(fewReasons);
      }, 100);
    },
  } satisfies Provocations;
}
