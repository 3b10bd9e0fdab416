import { type DateRange, nameOfData, rangeOf } from "./data-name.ts";
import type { DataSet } from "./data-set.ts";
import type { EventType } from "./events.ts";
import type { Outcome } from "./latest.ts";
import { present } from "./parse.ts";
import type { State } from "./state.ts";
import { nameOf, type Subject } from "./subjects.ts";

/** Types of messages that no event has: the provider confirmed a state, or data was fetched that is new. */
export const answerTypes = [
  "user.confirmed",
  "account.confirmed",
  "company-account.confirmed",
  "data.updated",
] as const;
export type MessageType = EventType | (typeof answerTypes)[number];

/**
 * A subscriber's message: CloudEvents 1.0 in JSON. Thin: ids and states, no personal data. At least once and
 * unordered: `id` is the same each time, and of two messages of a `subject` the higher `sequence` is the newer.
 */
export type Message = {
  readonly specversion: "1.0";
  readonly id: string;
  readonly source: string;
  readonly type: MessageType;
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: "application/json";
  /** Twenty digits, so that it compares as text (CloudEvents' `sequence` extension). */
  readonly sequence: string;
  readonly data: MessageData;
};

export type MessageData = {
  readonly userId?: string;
  readonly accountId?: string;
  readonly companyAccountId?: string;
  readonly datasourceId?: string;
  readonly endpoint?: string;
  /** The days that an event tells, or that the data is of. */
  readonly dateStart?: string;
  readonly dateEnd?: string;
  readonly dataAvailable?: boolean;
  readonly connected?: boolean;
  readonly deleted?: boolean;
  readonly unconfirmed?: boolean;
  readonly outcome?: Outcome;
  /** No webhook told it: reconciliation found that it was missed. */
  readonly reconciled?: true;
  /** SHA-256 of the data that is stored, base64url; absent where the provider has none. */
  readonly content?: string;
};

/** The message of a state's present version; undefined where it has none of its own. */
export function messageOfState(state: State, source: string): Message | undefined {
  const { latest, subject } = state;
  const known = {
    ...idsOf(subject),
    userId: subject.kind === "user" ? subject.id : state.userId,
    datasourceId: state.datasourceId,
    connected: state.connected,
    deleted: state.deleted,
    unconfirmed: state.unconfirmed,
  };
  switch (latest.cause) {
    case "again":
      return undefined;
    case "event": {
      const { event, outcome } = latest;
      const data = present<MessageData>({ ...known, outcome, reconciled: event.reconciled });
      return message(
        source,
        state,
        event.id,
        event.type,
        event.time ?? event.receivedAt,
        nameOf(subject),
        data,
      );
    }
    case "answer": {
      const name = nameOf(subject);
      const id = `${name}.${state.version}`;
      return message(
        source,
        state,
        id,
        `${subject.kind}.confirmed`,
        latest.at,
        name,
        present<MessageData>(known),
      );
    }
  }
}

/** The message of a data set's present version; undefined where it has none of its own. */
export function messageOfDataSet(dataSet: DataSet, source: string): Message | undefined {
  const { latest, subject, endpoint, range } = dataSet;
  const name = `${nameOf(subject)}/${nameOfData(dataSet, "/")}`;
  const known = { ...idsOf(subject), endpoint };
  switch (latest.cause) {
    case "again":
      return undefined;
    case "event": {
      const { event, outcome } = latest;
      const { userId, dataAvailable } = event;
      const dates = datesOf(rangeOf(event));
      const data = present<MessageData>({ ...known, ...dates, userId, dataAvailable, outcome });
      return message(source, dataSet, event.id, event.type, event.time ?? event.receivedAt, name, data);
    }
    case "answer": {
      const data = present<MessageData>({ ...known, ...datesOf(range), content: dataSet.content });
      return message(source, dataSet, `${name}.${dataSet.version}`, "data.updated", latest.at, name, data);
    }
  }
}

function datesOf(range: DateRange | undefined): Pick<MessageData, "dateStart" | "dateEnd"> {
  return range === undefined ? {} : { dateStart: range.start, dateEnd: range.end };
}

function message(
  source: string,
  { version }: { readonly version: number },
  id: string,
  type: MessageType,
  time: string,
  subject: string,
  data: MessageData,
): Message {
  const sequence = String(version).padStart(20, "0");
  return {
    specversion: "1.0",
    id,
    source,
    type,
    subject,
    time,
    datacontenttype: "application/json",
    sequence,
    data,
  };
}

function idsOf(subject: Subject): Pick<MessageData, "userId" | "accountId" | "companyAccountId"> {
  switch (subject.kind) {
    case "user":
      return { userId: subject.id };
    case "account":
      return { accountId: subject.id };
    case "company-account":
      return { companyAccountId: subject.id };
  }
}
