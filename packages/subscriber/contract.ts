/** The attributes that each message has besides `type` and `data`, as in CloudEvents 1.0. */
export type Attributes = {
  /** The version of CloudEvents. */
  readonly specversion: "1.0";
  /** The same at each delivery of this message: skip ids that you have handled. */
  readonly id: string;
  /** `/income-events/<stage>`. */
  readonly source: string;
  /**
   * `user/<id>`, `account/<id>` or `company-account/<id>`. For data, `/<endpoint>` follows, and `/<first day>..<last
   * day>` if it is read by dates; for readiness, `/readiness` follows. In an id, `%`, `/` and `#` are
   * percent-encoded. For a test, `subscriber/<name>`.
   */
  readonly subject: string;
  /** ISO 8601 in UTC. Its meaning depends on `type`. */
  readonly time: string;
  /** The content type of `data`. */
  readonly datacontenttype: "application/json";
  /** Of two messages with one `subject`, the one with the higher sequence, compared as text, is newer. */
  readonly sequence: string;
  /** The id of the replay that sent the message; absent if the pipeline sent it by itself. */
  readonly replayid?: string;
  /**
   * The id of the message's cause, which the pipeline's logs also contain: an event (even if the provider was called
   * or data read because of it), an erasure or a comparison with the provider. Absent in a test, and if an earlier
   * release recorded the cause.
   */
  readonly correlationid?: string;
};

type OfUser = {
  /** The provider's id of the user. */
  readonly userId: string;
};

/** Attributes of the user that a message is about, or that owns its account or data. */
type UserAttributes = {
  /**
   * The values that the stage's `mapping.users.attributes` takes from the user's metadata, such as a loan number, as
   * known when the message is sent. Absent while nothing is known; empty once they were removed.
   */
  readonly attributes?: Readonly<Record<string, string>>;
  /**
   * The message with the highest value, of all about a user, its accounts and their data, has the newest
   * `attributes`. Do not compare it with `sequence`.
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
  /** Whether it is deleted after the event. Final, unless `account.restored` follows. */
  readonly deleted: boolean;
  /** Whether the state is in doubt until the provider has answered. */
  readonly unconfirmed: boolean;
};

type StateOfUser = State & UserAttributes;

type StateOfAccount = State &
  UserAttributes & {
    /** Whether it is connected after the event; absent while unknown. */
    readonly connected?: boolean;
    /**
     * When it was connected or disconnected: when the webhook was received, or the provider answered. Present if the
     * stage maps reasons.
     */
    readonly since?: string;
    /** Why it is connected or disconnected, in the provider's words. Present if the stage maps reasons. */
    readonly reason?: string;
    /** The provider's id of the user. */
    readonly userId?: string;
    /** The provider's id of the account's data source. */
    readonly datasourceId?: string;
  };

type WithOutcome = {
  /**
   * How the event changed the known state. `applied`: it changed. `agreed`: nothing new. `stale`: the event is older.
   * `unconfirmed`: the event contradicts the state and no time says which is newer; the provider is called, and a
   * `.confirmed` message follows.
   */
  readonly outcome: "applied" | "agreed" | "stale" | "unconfirmed";
};

type EventData = WithOutcome & {
  /**
   * The event came from a comparison with the provider, or from an operator who took it back, and not from a webhook.
   * The webhook may still arrive, as another event.
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
  /** The first day that the event names or the data covers, as the provider wrote it. */
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
  /** The stored data; absent if the provider has none. */
  readonly document?: {
    /** The permanent address of exactly this version; see the guide to documents. */
    readonly href: string;
    /** Digest of the bytes that the provider sent, in lower-case hex. */
    readonly sha256: string;
    /** Number of bytes. */
    readonly size: number;
    /** Their content type: `application/json` for JSON in UTF-8; else as the provider said. */
    readonly contentType: string;
    /** A higher number is a newer version of the document. */
    readonly version: string;
    /** When the provider was called for it: ISO 8601 in UTC. */
    readonly observedAt: string;
    /**
     * The dates that the document covers, if its endpoint is read by ranges. Ranges may overlap, so count each record
     * once, by its id.
     */
    readonly range?: {
      /** The first day, as the provider wrote it. */
      readonly start: string;
      /** The last day. */
      readonly end: string;
    };
    /**
     * The document itself, with every digit as the provider wrote it. Present if the subscriber's settings say
     * `inline` and the message stays within `documents.inlineLimit`.
     */
    readonly content?: unknown;
  };
};

type AccountReadiness = OfAccount &
  UserAttributes & {
    /** When the connection began, by the receipt of its webhook: ISO 8601 in UTC. */
    readonly connectedSince: string;
    /** The versions of the documents read since the connection began. */
    readonly documents: readonly {
      /** The name of the provider's endpoint, such as `income`. */
      readonly endpoint: string;
      /** The permanent address of exactly this version; see the guide to documents. */
      readonly href: string;
      /** A higher number is a newer version of the document. */
      readonly version: string;
      /** Digest of the bytes that the provider sent, in lower-case hex. */
      readonly sha256: string;
    }[];
    /** The provider's id of the user. */
    readonly userId?: string;
  };

type MissingEndpoint = {
  /** The name of the provider's endpoint, such as `income`. */
  readonly endpoint: string;
  /**
   * `notAnnounced`: not read since the connection began. `none`: the provider has no data. `tooFewDays`: it covers
   * less than `readiness.minDays`. `failing`: its reads fail. `deadLetter`: its reads were given up.
   */
  readonly reason: "notAnnounced" | "none" | "tooFewDays" | "failing" | "deadLetter";
};

type StaleAccount = OfAccount &
  UserAttributes & {
    /** When the connection began, by the receipt of its webhook: ISO 8601 in UTC. */
    readonly connectedSince: string;
    /** When data was last new: ISO 8601 in UTC. Absent if none was in this connection. */
    readonly newestAt?: string;
    /** The provider's id of the user. */
    readonly userId?: string;
  };

type UserReadiness = OfUser &
  UserAttributes & {
    /** The user's connected accounts that are ready or incomplete, by id. At least one. */
    readonly accounts: readonly {
      /** The provider's id of the account. */
      readonly accountId: string;
      /** As in the newest `account.ready` or `account.incomplete` of this connection. */
      readonly status: "ready" | "incomplete";
      /** When this connection began: the receipt of its webhook. ISO 8601 in UTC. */
      readonly connectedSince: string;
    }[];
  };

type SubscriberTest = {
  /** A test message; it announces nothing. */
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
   * An operator took back a deletion that a comparison with the provider had reported by mistake. The provider is
   * called for the account's state, and `account.confirmed` follows.
   */
  readonly "account.restored": OfAccount & StateOfAccount & EventData;
  /** The provider has new data of an endpoint, which the pipeline now reads. */
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
  /** The provider was called for the current state, and answered. */
  readonly "user.confirmed": OfUser & StateOfUser;
  /** The provider was called for the current state, and answered. */
  readonly "account.confirmed": OfAccount & StateOfAccount;
  /** The provider was called for the current state, and answered. */
  readonly "company-account.confirmed": OfCompanyAccount & StateOfAccount;
  /**
   * All stored data was erased, by an operator's command or, if the stage is configured so, by a deletion. Erase your
   * copy too. No more messages follow, unless the provider announces the user again months later; then its sequences
   * start over.
   */
  readonly "user.erased": OfUser;
  /** Like `user.erased`. */
  readonly "account.erased": OfAccount;
  /** Like `user.erased`. */
  readonly "company-account.erased": OfCompanyAccount;
  /** An endpoint's data was read and is new or has changed. */
  readonly "data.updated": DataUpdated;
  /**
   * Each endpoint of the setting `readiness` was read after the account was connected. Sent once for each connection.
   */
  readonly "account.ready": AccountReadiness;
  /** An endpoint was missing at the deadline of `readiness`. `account.ready` follows if it arrives later. */
  readonly "account.incomplete": AccountReadiness & {
    /** Each missing endpoint, and why it is missing. */
    readonly missing: readonly MissingEndpoint[];
  };
  /** A connected account has had no new data for `readiness.staleDays`. Sent once until data is new again. */
  readonly "account.stale": StaleAccount;
  /**
   * All of a user's connected accounts, or with `readiness.users` `any` at least one, are ready or incomplete. Sent
   * again when the accounts that it lists change.
   */
  readonly "user.ready": UserReadiness;
  /** An operator tested this subscriber (`subscribers test`). Sent only to its queue, whatever its filter says. */
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
 * A subscriber's message: CloudEvents 1.0 in JSON. It contains ids and states, and no personal data. Delivery is at
 * least once and in any order: `id` stays the same, and of two messages of a `subject` the higher `sequence` is
 * newer.
 */
export type Message = MessageOf<MessageType>;
