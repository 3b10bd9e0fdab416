import { present } from "../../../domain/core/parse.ts";
import { claimOf, subjectKindOf } from "../../../domain/event/events.ts";
import { nameOf, type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import type { State } from "../../../domain/state/state.ts";
import { unknownSubject } from "../core/flags.ts";
import { listEvents } from "../events/event-list.ts";
import type { LookupPorts } from "../events/event-lookup.ts";

export type StateStep = {
  /** When it was received or answered, ISO 8601. */
  readonly at: string;
  /** The state that it reports, if any. */
  readonly says?: "connected" | "not connected" | "deleted";
  /** The outcome; only the latest event has one. */
  readonly became: string;
  /** The resulting version, if known. */
  readonly version?: number;
  /** Undefined for the provider's answer. */
  readonly event?: { readonly id: string; readonly type: string; readonly time?: string };
};

/** Maximum steps to show. */
const maxSteps = 1_000;

/**
 * The history of a subject, the latest first, from its stored events. Expired events are missing.
 * @throws CommandError if the subject is unknown
 */
export async function stateHistory(
  subject: Subject,
  ports: LookupPorts,
): Promise<{ readonly steps: readonly StateStep[]; readonly isWhole: boolean }> {
  const [state, listed] = await Promise.all([
    ports.records.loadState(subject),
    listEvents({ subject, filter: {}, limit: maxSteps }, ports),
  ]);
  if (state === undefined && listed.length === 0) throw unknownSubject(subject);
  const steps = listed
    .filter(
      ({ event }) => subjectKindOf(event.type) !== "endpoint" && nameOf(subjectOf(event)) === nameOf(subject),
    )
    .map(({ event, progress }): StateStep => {
      const { deleted, connected } = claimOf(event);
      return {
        at: event.receivedAt,
        became: progress.outcome ?? progress.state,
        ...present({ says: deleted ? "deleted" : saysOf(connected), version: progress.version }),
        event: { id: event.id, type: event.type, ...present({ time: event.time }) },
      };
    });
  const all = [...answerOf(state), ...steps].toSorted(
    (one, other) => Date.parse(other.at) - Date.parse(one.at),
  );
  return { steps: all, isWhole: listed.length < maxSteps };
}

function saysOf(connected: boolean | undefined): StateStep["says"] {
  if (connected === undefined) return undefined;
  return connected ? "connected" : "not connected";
}

/** The provider's answer, if nothing has changed the state since. */
function answerOf(state: State | undefined): readonly StateStep[] {
  if (state?.latest.cause !== "answer") return [];
  return [
    {
      at: state.latest.at,
      became: "the provider's answer",
      version: state.version,
      ...present({ says: state.deleted ? "deleted" : saysOf(state.connected) }),
    },
  ];
}
