import { expect } from "vitest";
import type { CanaryDriver, Provocations } from "./canary-driver.ts";

/** Provocations of the codes of registration and the token, in order. */
export function tokenProvocations({
  stage,
  secret,
  currentToken,
  plantSecret,
  output,
  invoke,
  makeToken,
  setToken,
  setWebhookSecret,
  send,
  endpoint,
  provoke,
  during,
  page,
  refreshWith,
}: CanaryDriver) {
  return {
    WEBHOOKS_REGISTERED: async () => {
      for (const answer of [() => page(422), () => page(500), () => page(404)]) {
        const end = stage().answers(/^PUT /, answer);
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
    TOKEN_UNCHANGED: async () => {
      const end = stage().answers(/refresh/, refreshWith(currentToken()));
      await during(end, "TOKEN_UNCHANGED", () => invoke(/Refresh/, { now: true }));
    },
    TOKEN_REFUSED: async () => {
      await during(
        stage().answers(/refresh/, () => page(401)),
        "TOKEN_REFUSED",
        () => invoke(/Refresh/, { now: true }),
      );
    },
    TOKEN_DISCARDED: async () => {
      const ends = [
        stage().answers(/refresh/, refreshWith(makeToken(7_200))),
        stage().answers(/users(\?|$)/, () => page(401)),
      ];
      await during(
        () => ends.forEach((end) => void end()),
        "TOKEN_DISCARDED",
        () => invoke(/Refresh/, { now: true }),
      );
    },
    TOKEN_OVERTAKEN: async () => {
      const ends = [
        stage().answers(/refresh/, refreshWith(makeToken(7_200))),
        // Another token becomes current just before, so the label has moved.
        stage().stack.gateway.intercept(async ({ principal, action }, phase) => {
          const isMove = phase === "before" && action === "secretsmanager:UpdateSecretVersionStage";
          if (isMove && principal.includes("Refresh")) await setToken(7_200);
          return undefined;
        }),
      ];
      await during(
        () => ends.forEach((end) => void end()),
        "TOKEN_OVERTAKEN",
        () => invoke(/Refresh/, { now: true }),
      );
    },
    TOKEN_STILL_VALID: async () => {
      await setToken(7_200);
      const end = stage().answers(/\/income$/, () => page(401));
      await during(end, "TOKEN_STILL_VALID", async () => {
        await provoke("TASK_POSTPONED", () => send("endpoints", endpoint()));
        await invoke(/Refresh/);
      });
    },
    TOKEN_UNPROVEN: async () => {
      const ends = [
        stage().answers(/refresh/, refreshWith(makeToken(7_200))),
        stage().answers(/users(\?|$)/, () => page(500)),
      ];
      await during(
        () => ends.forEach((end) => void end()),
        "TOKEN_UNPROVEN",
        () => invoke(/Refresh/, { now: true }),
      );
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
        expect(await invoke(/Refresh/, { now: true })).toMatchObject({ kind: "failed" });
        end();
      }
      const end = stage().answers(/refresh/, refreshWith(makeToken(7_200)));
      await during(end, "TOKEN_REFRESHED", () => invoke(/Refresh/, { now: true }));
    },
    TOKEN_SHORT_LIVED: async () => {
      await setToken(600);
      await invoke(/Refresh/);
    },
    // Each run that finds a token logs its lifetime.
    TOKEN_TIME_LEFT: () => invoke(/Refresh/),
    TOKEN_NEAR_END: async () => {
      await setToken(7_200, 7_000);
      await during(
        stage().answers(/refresh/, () => page(401)),
        "TOKEN_NEAR_END",
        () => invoke(/Refresh/),
      );
    },
    TOKEN_MISSING: async () => {
      await stage().stack.setSecret(output("TokenSecretArn"), plantSecret("a token that is no JSON"));
      expect(await invoke(/Refresh/)).toMatchObject({ kind: "failed" });
      await stage().stack.setSecret(
        output("TokenSecretArn"),
        JSON.stringify({ tokens: plantSecret("a token under a wrong name") }),
      );
      await invoke(/Refresh/);
      await setToken(7_200);
    },
    WEBHOOKS_NOT_REGISTERED: async () => {
      await stage().stack.setSecret(
        output("TokenSecretArn"),
        JSON.stringify({ tokens: plantSecret("another token under a wrong name") }),
      );
      // A restarted process has no cached token.
      stage()
        .functionOf(/^Regist/)
        .kill();
      await invoke(/^Regist/, { "detail-type": "Scheduled Event" });
      await setToken(7_200);
    },
  } satisfies Provocations;
}
