import { randomUUID } from "node:crypto";
import { GetCallerIdentityCommand } from "@aws-sdk/client-sts";
import { type AuditTrail, auditTrail } from "../../../adapters/dynamodb/audit-trail.ts";
import { subjectDigest } from "../../../adapters/erasure/find-erased.ts";
import { present } from "../../../domain/core/parse.ts";
import { canonicalId, type Subject } from "../../../domain/event/subjects.ts";
import type { OperatorAct } from "../../../domain/recovery/operator-act.ts";
import type { Operation, Place } from "./command.ts";

/** An operator's action. The audit trail holds a digest of its subject. */
export type Act = Pick<OperatorAct, "act" | "target" | "reason"> & { readonly subject?: Subject | undefined };

/**
 * Runs an operator's action, and records its start and its end. An action that can't be recorded is not run.
 * @param count how many things it changed; by default the result, if that is a number
 */
export async function audited<T>(
  operation: Operation,
  { act, target, reason, subject }: Act,
  work: () => Promise<T>,
  count?: number | ((result: T) => number | undefined),
): Promise<T> {
  const { Arn: who = "" } = await operation.clients.sts.send(new GetCallerIdentityCommand({}));
  const at = new Date().toISOString();
  const digest = subject && (await digestFor(operation, subject));
  const begun: OperatorAct = {
    ...{ id: randomUUID(), at, who, act, target, outcome: "begun" },
    ...present({ subject: digest, reason }),
  };
  const trail = auditTrailOf(operation);
  await trail.begin(begun);
  let result: T;
  try {
    result = await work();
  } catch (error) {
    // The original error is thrown; the trail shows that the end was not recorded.
    await trail.end(begun, "failed", undefined).catch(() => undefined);
    throw error;
  }
  const counted = typeof count === "function" ? count(result) : (count ?? result);
  await trail
    .end(begun, "done", typeof counted === "number" ? counted : undefined)
    .catch((error: unknown) => {
      operation.terminal.progress(`It is done; the audit trail has no entry of it: ${String(error)}`);
    });
  return result;
}

export function auditTrailOf({ deployment, clients }: Place): AuditTrail {
  const days = deployment.optionalOutput("AuditDays");
  return auditTrail(
    clients.dynamodb,
    deployment.output("TableName"),
    days === undefined ? undefined : Number(days),
  );
}

/** Stands in the trail for the subject of an action. */
export function digestFor({ deployment, clients }: Place, { kind, id }: Subject): Promise<string> {
  const digestOf = subjectDigest(clients.secretsManager, deployment.output("ErasureKeyArn"));
  return digestOf({ kind, id: canonicalId(id) });
}
