/** What each message has beside `type` and `data`: the attributes of CloudEvents 1.0. */
export type Attributes = {
  /** The version of CloudEvents. */
  readonly specversion: "1.0";
  /** The same each time that this message is sent: drop what was handled. */
  readonly id: string;
  /** `/income-events/<stage>`. */
  readonly source: string;
  /**
   * `user/<id>`, `account/<id>`, `company-account/<id>`; of data with `/<endpoint>` behind it, and with
   * `/<first day>..<last day>` behind that where it is read by dates; of readiness with `/readiness`. In an id `%`, `/` and `#` are
   * percent-encoded. Of a test `subscriber/<name>`.
   */
  readonly subject: string;
  /** ISO 8601 in UTC; what it is the time of depends on `type`. */
  readonly time: string;
  /** What `data` is. */
  readonly datacontenttype: "application/json";
  /** Of two messages of one `subject` the higher one, compared as text, is the newer. */
  readonly sequence: string;
  /** A replay sent the message, by this id; absent in what the pipeline sends by itself. */
  readonly replayid?: string;
  /**
   * The id of what led to the message, the same in the pipeline's logs: of the event, also where the provider
   * was asked or data was read because of it; of the erasure; of the comparison with the provider. Absent in
   * a test, and where an earlier release recorded it.
   */
  readonly correlationid?: string;
};

type OfUser = {
  /** The provider's id of the user. */
  readonly userId: string;
};

/** Of the user whom a message is about, or whose account or data. */
type UserAttributes = {
  /**
   * What the stage's `mapping.users.attributes` takes from the user's metadata, such as the number of a loan: all
   * that is known when the message is sent. Absent while nothing is known; empty once they were removed.
   */
  readonly attributes?: Readonly<Record<string, string>>;
  /**
   * Of all messages about a user, its accounts and their data, the one with the highest has the newest
   * `attributes`. It compares with no `sequence`.
   */
  readonly attributesSequence?: string;
};

type OfAccount = {
  /** The provider's id of the account. */
  readonly accountId: string;
};

type OfCompanyAccount = {
  /** The provider's id of the company account. */
  readonly companyAccountId: string;
};

type State = {
  /** Whether it is deleted, after the event. Final, unless `account.restored` follows. */
  readonly deleted: boolean;
  /** Whether what is known is in doubt, until the provider has answered. */
  readonly unconfirmed: boolean;
};

type StateOfUser = State & UserAttributes;

type StateOfAccount = State &
  UserAttributes & {
    /** Whether it is connected, after the event; absent while nothing has said so. */
    readonly connected?: boolean;
    /**
     * Since when it is connected, or is not: when the webhook came, or the provider answered. Where the stage
     * maps reasons.
     */
    readonly since?: string;
    /** Why it is connected, or is not, in the provider's words. Where the stage maps reasons. */
    readonly reason?: string;
    /** The provider's id of the user. */
    readonly userId?: string;
    /** Where the account is: the provider's id of the source. */
    readonly datasourceId?: string;
  };

type WithOutcome = {
  /**
   * How the event stands to what was known: `applied`; `agreed`, nothing new; `stale`, older; or
   * `unconfirmed`, it contradicts and no time says which is newer: the provider is asked, and a `.confirmed`
   * follows.
   */
  readonly outcome: "applied" | "agreed" | "stale" | "unconfirmed";
};

type EventData = WithOutcome & {
  /**
   * No webhook brought the event: a comparison with the provider found it, or an operator took that back. The
   * webhook may still come, as one more event.
   */
  readonly reconciled?: true;
};

type OfEndpoint = UserAttributes & {
  /** The name of the provider's endpoint, such as `income`. */
  readonly endpoint: string;
  /** The provider's id of the account. */
  readonly accountId?: string;
  /** The provider's id of the company account. */
  readonly companyAccountId?: string;
  /** The first day that the event named, or that the data is of, as the provider wrote it. */
  readonly dateStart?: string;
  /** The last day, likewise. */
  readonly dateEnd?: string;
  /** The provider's id of the user. */
  readonly userId?: string;
};

type EndpointUpdated = OfEndpoint &
  WithOutcome & {
    /** Whether there is data to read. */
    readonly dataAvailable?: boolean;
  };

type DataUpdated = OfEndpoint & {
  /** The data that is stored now; absent where the provider has none. */
  readonly document?: {
    /** Where exactly this version is read, for ever: see the guide to documents. */
    readonly href: string;
    /** Of the bytes as the provider gave them, in lower-case hex. */
    readonly sha256: string;
    /** How many bytes these are. */
    readonly size: number;
    /** What they are: `application/json` for JSON in UTF-8; else as the provider said. */
    readonly contentType: string;
    /** Of two versions of a document the higher number is the newer. */
    readonly version: string;
    /** When the provider was asked that gave it: ISO 8601 in UTC. */
    readonly observedAt: string;
    /**
     * The dates that the document covers, where its endpoint is read by ranges. Ranges may overlap: count a
     * record by its id, once.
     */
    readonly range?: {
      /** The first day, as the provider wrote it. */
      readonly start: string;
      /** The last day. */
      readonly end: string;
    };
    /**
     * The document itself, every digit as the provider wrote it: where the subscriber's settings say
     * `inline`, and the message stays within `documents.inlineLimit`.
     */
    readonly content?: unknown;
  };
};

type AccountReadiness = OfAccount &
  UserAttributes & {
    /** When the connection began that it speaks of: when its webhook was received, ISO 8601 in UTC. */
    readonly connectedSince: string;
    /** The documents that were read since the connection began, as they were then. */
    readonly documents: readonly {
      /** The name of the provider's endpoint, such as `income`. */
      readonly endpoint: string;
      /** Where exactly this version is read, for ever: see the guide to documents. */
      readonly href: string;
      /** Of two versions of a document the higher number is the newer. */
      readonly version: string;
      /** Of the bytes as the provider gave them, in lower-case hex. */
      readonly sha256: string;
    }[];
    /** The provider's id of the user. */
    readonly userId?: string;
  };

type MissingEndpoint = {
  /** The name of the provider's endpoint, such as `income`. */
  readonly endpoint: string;
  /**
   * `notAnnounced`: it was not read since the connection began; `none`: the provider has none; `tooFewDays`: it
   * covers less than `readiness.minDays`; `failing`: its reads fail; `deadLetter`: they were given up.
   */
  readonly reason: "notAnnounced" | "none" | "tooFewDays" | "failing" | "deadLetter";
};

type SubscriberTest = {
  /** It announces nothing. */
  readonly test: true;
};

type Data = {
  /** A user was created. */
  readonly "user.created": OfUser & StateOfUser & EventData;
  /** A user was changed. */
  readonly "user.updated": OfUser & StateOfUser & EventData;
  /** A user was deleted. */
  readonly "user.deleted": OfUser & StateOfUser & EventData;
  /** An account was created. */
  readonly "account.created": OfAccount & StateOfAccount & EventData;
  /** An account was changed. */
  readonly "account.updated": OfAccount & StateOfAccount & EventData;
  /** An account was connected to its source. */
  readonly "account.connected": OfAccount & StateOfAccount & EventData;
  /** An account lost its source. */
  readonly "account.disconnected": OfAccount & StateOfAccount & EventData;
  /** An account was deleted. */
  readonly "account.deleted": OfAccount & StateOfAccount & EventData;
  /**
   * An operator took back a deletion that a comparison with the provider had reported by mistake. The provider
   * is asked for the account's state, and `account.confirmed` follows.
   */
  readonly "account.restored": OfAccount & StateOfAccount & EventData;
  /** The provider has news of an endpoint; its data is read now. */
  readonly "endpoint.updated": EndpointUpdated;
  /** A company account was created. */
  readonly "company-account.created": OfCompanyAccount & StateOfAccount & EventData;
  /** A company account was changed. */
  readonly "company-account.updated": OfCompanyAccount & StateOfAccount & EventData;
  /** A company account was connected to its source. */
  readonly "company-account.connected": OfCompanyAccount & StateOfAccount & EventData;
  /** A company account lost its source. */
  readonly "company-account.disconnected": OfCompanyAccount & StateOfAccount & EventData;
  /** A company account was deleted. */
  readonly "company-account.deleted": OfCompanyAccount & StateOfAccount & EventData;
  /** The provider was asked what is so, and answered. */
  readonly "user.confirmed": OfUser & StateOfUser;
  /** The provider was asked what is so, and answered. */
  readonly "account.confirmed": OfAccount & StateOfAccount;
  /** The provider was asked what is so, and answered. */
  readonly "company-account.confirmed": OfCompanyAccount & StateOfAccount;
  /**
   * An operator's command, or a deletion where the stage's settings say so, erased all that was kept. Forget
   * it, too: nothing more comes of it, unless the provider announces it again in months; then its sequences
   * start over.
   */
  readonly "user.erased": OfUser;
  /** As `user.erased`. */
  readonly "account.erased": OfAccount;
  /** As `user.erased`. */
  readonly "company-account.erased": OfCompanyAccount;
  /** An endpoint's data was fetched and is not what was stored before. */
  readonly "data.updated": DataUpdated;
  /**
   * Each endpoint of the setting `readiness` was read after the account was connected. Once for each
   * connection.
   */
  readonly "account.ready": AccountReadiness;
  /**
   * At the deadline of `readiness` an endpoint was missing. `account.ready` may still follow, once it has come.
   */
  readonly "account.incomplete": AccountReadiness & {
    /** Each endpoint that is missing, and why. */
    readonly missing: readonly MissingEndpoint[];
  };
  /**
   * An operator tried this subscriber (`subscribers test`): sent to its queue alone, whatever its filter
   * says.
   */
  readonly "subscriber.test": SubscriberTest;
};

type Flat<T> = { [Name in keyof T]: T[Name] };

export type MessageType = keyof Data;

export type DataOf<Type extends MessageType> = Type extends MessageType ? Flat<Data[Type]> : never;

/** A message of one type. */
export type MessageOf<Type extends MessageType> = Type extends MessageType
  ? Attributes & { readonly type: Type; readonly data: DataOf<Type> }
  : never;

/**
 * A subscriber's message: CloudEvents 1.0 in JSON. It holds ids and states, and no personal data. It comes at
 * least once and in any order: `id` is the same each time, and of two messages of a `subject` the higher
 * `sequence` is the newer.
 */
export type Message = MessageOf<MessageType>;
