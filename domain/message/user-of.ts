import { subjectKindOf } from "../event/events.ts";
import { type Subject, subjectOf } from "../event/subjects.ts";
import type { Change } from "../state/change.ts";
import type { State } from "../state/state.ts";

export type LoadState = (subject: Subject) => Promise<State | undefined>;

/**
 * The stored user whose account or data a change is about; undefined if there is none or the change is the
 * user's own state. The account's state decides the owner, because the user that the provider sends with data may
 * be missing or wrong.
 */
export async function userOf(change: Change, loadState: LoadState): Promise<State | undefined> {
  switch (change.type) {
    case "state": {
      const { subject, userId } = change.after;
      return subject.kind === "user" || userId === undefined ? undefined : loadState(userNamed(userId));
    }
    case "event": {
      const { event } = change;
      return subjectKindOf(event.type) === "user"
        ? undefined
        : ownerOf(subjectOf(event), event.userId, loadState);
    }
    case "document":
      return ownerOf(change.after.subject, change.after.userId, loadState);
    case "readiness": {
      const { userId } = change.after;
      return userId === undefined ? undefined : loadState(userNamed(userId));
    }
    case "userReadiness":
      return loadState(change.after.subject);
  }
}

/** Loads both concurrently, so that only a different owner costs a second round trip. */
async function ownerOf(
  account: Subject,
  userId: string | undefined,
  loadState: LoadState,
): Promise<State | undefined> {
  const [state, named] = await Promise.all([
    loadState(account),
    userId === undefined ? undefined : loadState(userNamed(userId)),
  ]);
  const ownerId = state?.userId ?? userId;
  return ownerId === undefined || ownerId === userId ? named : loadState(userNamed(ownerId));
}

function userNamed(id: string): Subject {
  return { kind: "user", id };
}
