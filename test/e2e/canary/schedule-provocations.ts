import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { eventually } from "../../support/eventually.ts";
import {
  account,
  answers,
  archivedReasons,
  archiveUntil,
  currentToken,
  endpoint,
  erase,
  erased,
  fails,
  fewReasons,
  hold,
  invoke,
  listed,
  makeToken,
  output,
  type Provocations,
  page,
  plant,
  plantSecret,
  provoke,
  reconcile,
  refreshWith,
  secret,
  send,
  setToken,
  setWebhookSecret,
  stage,
} from "./canary-driver.ts";

const users = /users(\?|$)/;
const refreshNow = () => invoke(/Refresh/, { now: true });
const setTokenSecret = (content: string) => stage().stack.setSecret(output("TokenSecretArn"), content);

/** Provocations of the codes of registration and the token, in order. */
export const tokenProvocations = {
  WEBHOOKS_REGISTERED: async () => {
    for (const status of [422, 500, 404]) {
      const end = stage().answers(/^PUT /, () => page(status));
      expect(await invoke(/^Regist/)).toMatchObject({ kind: "failed" });
      end();
    }
    await invoke(/^Regist/);
  },
  WEBHOOKS_REGISTERED_PREVIOUS: async () => {
    const previousUntil = new Date(Date.now() + 3_600_000).toISOString();
    await setWebhookSecret({ current: plantSecret("the next secret"), previous: secret(), previousUntil });
    await invoke(/^Regist/);
    await setWebhookSecret({ current: secret() });
  },
  TOKEN_KEPT: () => invoke(/^.*Refresh/),
  TOKEN_UNCHANGED: () => {
    answers(/refresh/, refreshWith(currentToken()));
    return refreshNow();
  },
  TOKEN_REFUSED: () => {
    answers(/refresh/, () => page(401));
    return refreshNow();
  },
  TOKEN_DISCARDED: () => {
    answers(/refresh/, refreshWith(makeToken(7_200)));
    answers(users, () => page(401));
    return refreshNow();
  },
  TOKEN_OVERTAKEN: async () => {
    answers(/refresh/, refreshWith(makeToken(7_200)));
    // Another token becomes current just before, so the label has moved.
    const end = stage().stack.gateway.intercept(async ({ principal, action }, phase) => {
      const isMove = phase === "before" && action === "secretsmanager:UpdateSecretVersionStage";
      if (isMove && principal.includes("Refresh")) await setToken(7_200);
      return undefined;
    });
    await provoke("TOKEN_OVERTAKEN", refreshNow).finally(end);
  },
  TOKEN_STILL_VALID: async () => {
    await setToken(7_200);
    await provoke("TASK_POSTPONED", () => {
      answers(/\/income$/, () => page(401));
      return send("endpoints", endpoint());
    });
    await invoke(/Refresh/);
  },
  TOKEN_UNPROVEN: async () => {
    await provoke("TOKEN_UNPROVEN", () => {
      answers(/refresh/, refreshWith(makeToken(7_200)));
      answers(users, () => page(500));
      return refreshNow();
    });
    await invoke(/Refresh/);
  },
  TOKEN_PACED: async () => {
    await setToken(7_200, 7_000);
    await invoke(/Refresh/);
  },
  TOKEN_REFRESHED: async () => {
    for (const answer of [
      () => page(403),
      () => page(500),
      () => page(200),
      () => ({ json: { token: [plantSecret("a token in a list")] } }),
    ]) {
      const end = stage().answers(/refresh/, answer);
      expect(await refreshNow()).toMatchObject({ kind: "failed" });
      end();
    }
    answers(/refresh/, refreshWith(makeToken(7_200)));
    await refreshNow();
  },
  TOKEN_SHORT_LIVED: async () => {
    await setToken(600);
    await invoke(/Refresh/);
  },
  // Each run that finds a token logs its lifetime.
  TOKEN_TIME_LEFT: () => invoke(/Refresh/),
  TOKEN_NEAR_END: async () => {
    await setToken(7_200, 7_000);
    answers(/refresh/, () => page(401));
    await invoke(/Refresh/);
  },
  TOKEN_MISSING: async () => {
    await setTokenSecret(plantSecret("a token that is no JSON"));
    expect(await invoke(/Refresh/)).toMatchObject({ kind: "failed" });
    await setTokenSecret(JSON.stringify({ tokens: plantSecret("a token under a wrong name") }));
    await invoke(/Refresh/);
    await setToken(7_200);
  },
  WEBHOOKS_NOT_REGISTERED: async () => {
    await setTokenSecret(JSON.stringify({ tokens: plantSecret("another token under a wrong name") }));
    // A restarted process has no cached token.
    stage()
      .functionOf(/^Regist/)
      .kill();
    await invoke(/^Regist/, { "detail-type": "Scheduled Event" });
    await setToken(7_200);
  },
} satisfies Provocations;

/** Provocations of the codes of reconciliation, erasure and the archive, in order. */
export const scheduleProvocations = {
  CANARY_ARRIVED: async () => expect(await invoke(/^Canary/)).toMatchObject({ kind: "returned" }),
  CANARY_MISSING: () => {
    const queues = [...stage().stack.queues.values()];
    const queue = queues.find(({ logicalId }) => logicalId.startsWith("Canary"))?.arn;
    fails(/^Relay/, "sqs:SendMessageBatch", { errorType: "AccessDenied" }, queue);
    return invoke(/^Canary/);
  },
  RECONCILIATION_PAUSED: async () => {
    for (const status of [503, 200, 202])
      await provoke("RECONCILIATION_PAUSED", () => {
        answers(users, () => page(status));
        return reconcile();
      });
  },
  RECONCILIATION_FAILED: async () => {
    for (const answer of [
      () => page(400),
      () => ({ json: { data: [{ name: plantSecret("a user without an id") }] } }),
    ])
      await provoke("RECONCILIATION_FAILED", () => {
        answers(users, answer);
        return reconcile();
      });
  },
  RECONCILIATION_OVERTAKEN: () => {
    fails(/^Reconcil/, "dynamodb:PutItem", { errorType: "ConditionalCheckFailedException" });
    return reconcile();
  },
  RECONCILIATION_SKIPPED: () => {
    const data = () => [listed(), { id: plant("a listed user's id that is no UUID") }];
    answers(users, () => ({ json: { data: data(), next: null } }));
    answers(/users\/.*\/accounts/, () => page(400));
    return reconcile();
  },
  RECONCILED: () => {
    answers(users, () => ({ json: { data: [listed()], next: null } }));
    return reconcile();
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
    await hold({ kind: "user", id: held }, plant("the reason of a legal hold"));
    await erase(held);
  },
  ARCHIVING_FAILED: () => {
    fails(/^.*Archive/, "s3:PutObject", { status: 403, errorType: "AccessDenied" });
    return archiveUntil("ARCHIVING_FAILED");
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
