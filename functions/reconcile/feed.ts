import { FailureError } from "../../domain/core/failures.ts";
import { type Envelope, envelopeVersion, writeEnvelope } from "../../domain/event/envelope.ts";
import type { FoundEvent } from "../../domain/reconcile/drift.ts";
import type { ReconcilerDependencies } from "./dependencies.ts";

/**
 * Sends missed events through the queues of webhooks.
 * @throws retryable failure if an event is not durable in SQS; all of them may be sent again
 */
export async function feed(
  events: readonly FoundEvent[],
  { send, queueUrls, now }: ReconcilerDependencies,
): Promise<void> {
  const receivedAt = now().toISOString();
  for (const kind of ["users", "accounts", "company-accounts"] as const) {
    const messages = events
      .filter((event) => event.kind === kind)
      .map(({ id, facts }): Envelope => {
        return { schemaVersion: envelopeVersion, kind, id, receivedAt, body: { type: "facts", facts } };
      })
      .map((envelope) => ({ body: writeEnvelope(envelope) }));
    const failures = await send(queueUrls[kind], messages);
    const failure = failures.find((each) => each !== undefined);
    if (failure !== undefined) throw new FailureError(failure);
  }
}
