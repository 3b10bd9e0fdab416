import { type Failure, failureOf } from "../../domain/core/failures.ts";
import type { Consequence } from "../../domain/message/consequences.ts";
import { withAttributes } from "../../domain/message/message.ts";
import type { Message } from "../../domain/message/message-schemas.ts";
import { type LoadState, userOf } from "../../domain/message/user-of.ts";
import { type Derived, dropErased, type RelayDependencies, type Step } from "./derive.ts";

/** Maps each message to a copy with its user's attributes, or to the failure of reading them. */
type WithAttributes = ReadonlyMap<Message, Message | Failure>;

/**
 * What each change leads to: nothing about erased subjects, and each message with its user's attributes.
 * All reads share a request.
 */
export async function stepsOf(
  derived: readonly (Derived | Failure)[],
  dependencies: RelayDependencies,
): Promise<Step[]> {
  const { attributes, versionedRecords } = dependencies;
  const [steps, found] = await Promise.all([
    dropErased(derived, dependencies),
    attributes && readAttributes(derived, versionedRecords.loadState),
  ]);
  return steps.map((step) => (found ? addAttributes(step, found) : step));
}

/** Reads a batch's attributes in one request, or two if an event names a user other than its account's. */
async function readAttributes(
  derived: readonly (Derived | Failure)[],
  loadState: LoadState,
): Promise<WithAttributes> {
  const found = new Map<Message, Message | Failure>();
  const reads = derived.map(async (each) => {
    if ("type" in each || each.change === undefined) return;
    const messages = each.consequences.flatMap((consequence) =>
      consequence.type === "publish" ? [consequence.message] : [],
    );
    if (messages.length === 0) return;
    const user = await userOf(each.change, loadState).catch(failureOf);
    for (const message of messages) {
      if (user !== undefined) found.set(message, "type" in user ? user : withAttributes(message, user));
    }
  });
  await Promise.all(reads);
  return found;
}

function addAttributes(step: Step, found: WithAttributes): Step {
  let { failure } = step;
  const consequences = step.consequences.map((consequence): Consequence => {
    const message = consequence.type === "publish" ? found.get(consequence.message) : undefined;
    if (consequence.type !== "publish" || message === undefined) return consequence;
    if ("specversion" in message) return { ...consequence, message };
    failure ??= message;
    return consequence;
  });
  return { ...step, consequences, failure };
}
