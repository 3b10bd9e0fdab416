import { subjectKindOf } from "../event/events.ts";
import { type Subject, subjectOf } from "../event/subjects.ts";
import type { Change } from "../state/change.ts";
import type { State } from "../state/state.ts";

export type LoadState = (subject: Subject) => Promise<State | undefined>;

/**
 * The user whose account or data a change is about, as known now; undefined where there is none, or the change is the
 * user's own. The owner is the one of the account's state: the user whom the provider names with data may be missing or
 * another.
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
  }
}

/** Both are asked for at the same time, so that only a difference costs a second request. */
async function ownerOf(
  account: Subject,
  userId: string | undefined,
  loadState: LoadState,
): Promise<State | undefined> {
  const [known, named] = await Promise.all([
    loadState(account),
    userId === undefined ? undefined : loadState(userNamed(userId)),
  ]);
  const ownerId = known?.userId ?? userId;
  return ownerId === undefined || ownerId === userId ? named : loadState(userNamed(ownerId));
}

function userNamed(id: string): Subject {
  return { kind: "user", id };
}
