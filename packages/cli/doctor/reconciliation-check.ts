import { checkpoint } from "../../../adapters/streams/checkpoint.ts";
import type { Run } from "../../../domain/reconcile/reconciliation.ts";
import { oneLine } from "../core/printable.ts";
import { fromNow } from "../core/spans.ts";
import type { Check, Examined } from "./finding.ts";

export const reconciliationCheck: Check = {
  name: "the reconciliation",
  examine: async ({ deployment, clients, now }) =>
    checkReconciliation(await checkpoint(clients.dynamodb, deployment.output("TableName")).load(), now),
};

export function checkReconciliation(run: Run | undefined, now: Date): Examined {
  const code = "reconciliation-failed";
  if (run?.failure === undefined) {
    return { findings: [], well: run === undefined ? [] : [{ code, since: new Date(run.startedAt) }] };
  }
  return {
    findings: [
      {
        code,
        severity: "warning",
        what: `The last reconciliation failed ${fromNow(new Date(run.endedAt ?? run.startedAt), now)}: ${oneLine(run.failure)}.`,
        why: "What webhooks did not announce is not found until the next one.",
        fix: "npx income-events reconcile now",
      },
    ],
    well: [],
  };
}
