// Written by `npm run docs` from domain/message/message-schemas.ts: change that.

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
   * `/<first day>..<last day>` behind that where it is read by dates. In an id `%`, `/` and `#` are
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

type UserEventData = {
  /** The provider's id of the user. */
  readonly userId: string;
  /** Whether it is deleted, after the event. Final. */
  readonly deleted: boolean;
  /** Whether what is known is in doubt, until the provider has answered. */
  readonly unconfirmed: boolean;
  /**
   * How the event stands to what was known: `applied`; `agreed`, nothing new; `stale`, older; or
   * `unconfirmed`, it contradicts and no time says which is newer: the provider is asked, and a `.confirmed`
   * follows.
   */
  readonly outcome: "applied" | "agreed" | "stale" | "unconfirmed";
  /**
   * No webhook brought the event: a comparison with the provider found that it was missed. The webhook may
   * still come, as one more event.
   */
  readonly reconciled?: true;
};

type AccountEventData = {
  /** The provider's id of the account. */
  readonly accountId: string;
  /** Whether it is deleted, after the event. Final. */
  readonly deleted: boolean;
  /** Whether what is known is in doubt, until the provider has answered. */
  readonly unconfirmed: boolean;
  /**
   * How the event stands to what was known: `applied`; `agreed`, nothing new; `stale`, older; or
   * `unconfirmed`, it contradicts and no time says which is newer: the provider is asked, and a `.confirmed`
   * follows.
   */
  readonly outcome: "applied" | "agreed" | "stale" | "unconfirmed";
  /** Whether it is connected, after the event; absent while nothing has said so. */
  readonly connected?: boolean;
  /** The provider's id of the user. */
  readonly userId?: string;
  /** Where the account is: the provider's id of the source. */
  readonly datasourceId?: string;
  /**
   * No webhook brought the event: a comparison with the provider found that it was missed. The webhook may
   * still come, as one more event.
   */
  readonly reconciled?: true;
};

type EndpointUpdatedData = {
  /** The name of the provider's endpoint, such as `income`. */
  readonly endpoint: string;
  /**
   * How the event stands to what was known: `applied`; `agreed`, nothing new; `stale`, older; or
   * `unconfirmed`, it contradicts and no time says which is newer: the provider is asked, and a `.confirmed`
   * follows.
   */
  readonly outcome: "applied" | "agreed" | "stale" | "unconfirmed";
  /** The provider's id of the account. */
  readonly accountId?: string;
  /** The provider's id of the company account. */
  readonly companyAccountId?: string;
  /** The provider's id of the user. */
  readonly userId?: string;
  /** Whether there is data to read. */
  readonly dataAvailable?: boolean;
  /** The first day that the event named, or that the data is of, as the provider wrote it. */
  readonly dateStart?: string;
  /** The last day, likewise. */
  readonly dateEnd?: string;
};

type CompanyAccountEventData = {
  /** The provider's id of the company account. */
  readonly companyAccountId: string;
  /** Whether it is deleted, after the event. Final. */
  readonly deleted: boolean;
  /** Whether what is known is in doubt, until the provider has answered. */
  readonly unconfirmed: boolean;
  /**
   * How the event stands to what was known: `applied`; `agreed`, nothing new; `stale`, older; or
   * `unconfirmed`, it contradicts and no time says which is newer: the provider is asked, and a `.confirmed`
   * follows.
   */
  readonly outcome: "applied" | "agreed" | "stale" | "unconfirmed";
  /** Whether it is connected, after the event; absent while nothing has said so. */
  readonly connected?: boolean;
  /** The provider's id of the user. */
  readonly userId?: string;
  /** Where the account is: the provider's id of the source. */
  readonly datasourceId?: string;
  /**
   * No webhook brought the event: a comparison with the provider found that it was missed. The webhook may
   * still come, as one more event.
   */
  readonly reconciled?: true;
};

type UserConfirmedData = {
  /** The provider's id of the user. */
  readonly userId: string;
  /** Whether it is deleted, after the event. Final. */
  readonly deleted: boolean;
  /** Whether what is known is in doubt, until the provider has answered. */
  readonly unconfirmed: boolean;
};

type AccountConfirmedData = {
  /** The provider's id of the account. */
  readonly accountId: string;
  /** Whether it is deleted, after the event. Final. */
  readonly deleted: boolean;
  /** Whether what is known is in doubt, until the provider has answered. */
  readonly unconfirmed: boolean;
  /** Whether it is connected, after the event; absent while nothing has said so. */
  readonly connected?: boolean;
  /** The provider's id of the user. */
  readonly userId?: string;
  /** Where the account is: the provider's id of the source. */
  readonly datasourceId?: string;
};

type CompanyAccountConfirmedData = {
  /** The provider's id of the company account. */
  readonly companyAccountId: string;
  /** Whether it is deleted, after the event. Final. */
  readonly deleted: boolean;
  /** Whether what is known is in doubt, until the provider has answered. */
  readonly unconfirmed: boolean;
  /** Whether it is connected, after the event; absent while nothing has said so. */
  readonly connected?: boolean;
  /** The provider's id of the user. */
  readonly userId?: string;
  /** Where the account is: the provider's id of the source. */
  readonly datasourceId?: string;
};

type UserErasedData = {
  /** The provider's id of the user. */
  readonly userId: string;
};

type AccountErasedData = {
  /** The provider's id of the account. */
  readonly accountId: string;
};

type CompanyAccountErasedData = {
  /** The provider's id of the company account. */
  readonly companyAccountId: string;
};

type DataUpdatedData = {
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
  /** The data that is stored now; absent where the provider has none. */
  readonly document?: {
    /** Where exactly this version is read, for ever: see the guide to documents. */
    readonly href: string;
    /** Of the bytes as the provider gave them, in lower-case hex. */
    readonly sha256: string;
    /** How many bytes these are. */
    readonly size: number;
    /** What they are. */
    readonly contentType: "application/json";
    /** Of two versions of a document the higher number is the newer. */
    readonly version: string;
    /** When the provider was asked that gave it: ISO 8601 in UTC. */
    readonly observedAt: string;
    /**
     * The document itself, every digit as the provider wrote it: where the subscriber's settings say
     * `inline`, and the message stays within `documents.inlineLimit`.
     */
    readonly content?: unknown;
  };
};

type SubscriberTestData = {
  /** It announces nothing. */
  readonly test: true;
};

type MessageWith<Type, Data> = Attributes & { readonly type: Type; readonly data: Data };

/**
 * A subscriber's message: CloudEvents 1.0 in JSON. It holds ids and states, and no personal data. It comes at
 * least once and in any order: `id` is the same each time, and of two messages of a `subject` the higher
 * `sequence` is the newer.
 */
export type Message =
  /** A user was created. */
  | MessageWith<"user.created", UserEventData>
  /** A user was changed. */
  | MessageWith<"user.updated", UserEventData>
  /** A user was deleted. */
  | MessageWith<"user.deleted", UserEventData>
  /** An account was created. */
  | MessageWith<"account.created", AccountEventData>
  /** An account was changed. */
  | MessageWith<"account.updated", AccountEventData>
  /** An account was connected to its source. */
  | MessageWith<"account.connected", AccountEventData>
  /** An account lost its source. */
  | MessageWith<"account.disconnected", AccountEventData>
  /** An account was deleted. */
  | MessageWith<"account.deleted", AccountEventData>
  /** The provider has news of an endpoint; its data is read now. */
  | MessageWith<"endpoint.updated", EndpointUpdatedData>
  /** A company account was created. */
  | MessageWith<"company-account.created", CompanyAccountEventData>
  /** A company account was changed. */
  | MessageWith<"company-account.updated", CompanyAccountEventData>
  /** A company account was connected to its source. */
  | MessageWith<"company-account.connected", CompanyAccountEventData>
  /** A company account lost its source. */
  | MessageWith<"company-account.disconnected", CompanyAccountEventData>
  /** A company account was deleted. */
  | MessageWith<"company-account.deleted", CompanyAccountEventData>
  /** The provider was asked what is so, and answered. */
  | MessageWith<"user.confirmed", UserConfirmedData>
  /** The provider was asked what is so, and answered. */
  | MessageWith<"account.confirmed", AccountConfirmedData>
  /** The provider was asked what is so, and answered. */
  | MessageWith<"company-account.confirmed", CompanyAccountConfirmedData>
  /**
   * An operator's command, or a deletion where the stage's settings say so, erased all that was kept. Forget
   * it, too: nothing more comes of it, unless the provider announces it again in months; then its sequences
   * start over.
   */
  | MessageWith<"user.erased", UserErasedData>
  /**
   * An operator's command, or a deletion where the stage's settings say so, erased all that was kept. Forget
   * it, too: nothing more comes of it, unless the provider announces it again in months; then its sequences
   * start over.
   */
  | MessageWith<"account.erased", AccountErasedData>
  /**
   * An operator's command, or a deletion where the stage's settings say so, erased all that was kept. Forget
   * it, too: nothing more comes of it, unless the provider announces it again in months; then its sequences
   * start over.
   */
  | MessageWith<"company-account.erased", CompanyAccountErasedData>
  /** An endpoint's data was fetched and is not what was stored before. */
  | MessageWith<"data.updated", DataUpdatedData>
  /**
   * An operator tried this subscriber (`subscribers test`): sent to its queue alone, whatever its filter
   * says.
   */
  | MessageWith<"subscriber.test", SubscriberTestData>;

export type MessageType = Message["type"];

/** A message of one type. */
export type MessageOf<Type extends MessageType> = Extract<Message, { readonly type: Type }>;

export type DataOf<Type extends MessageType> = MessageOf<Type>["data"];
