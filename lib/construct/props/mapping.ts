// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.

/** The settings `mapping.*`. */
export interface MappingProps {
  /** Where the fields of an event are in a webhook of one kind. */
  readonly users?: KindMappingProps;
  /** Where the fields of an event are in a webhook of one kind. */
  readonly accounts?: KindMappingProps;
  /** Where the fields of an event are in a webhook of one kind. */
  readonly endpoints?: KindMappingProps;
  /** Where the fields of an event are in a webhook of one kind. */
  readonly "company-accounts"?: KindMappingProps;
}

/** Where the fields of an event are in a webhook of one kind. */
export interface KindMappingProps {
  /**
   * Location of the event's name.
   * @default - as the provider documents it
   */
  readonly type?: string | { readonly header: string };
  /**
   * Maps the provider's event names to types: `{"<the provider's name>": "<our type>"}`, with our types from events.md, or `"ignore"`. If all names in it are ignored, they are added to the default.
   * @default - as the provider documents it
   */
  readonly types?:
    | Readonly<Record<string, "user.created" | "user.updated" | "user.deleted" | "account.created" | "account.updated" | "account.connected" | "account.disconnected" | "account.deleted" | "endpoint.updated" | "company-account.created" | "company-account.updated" | "company-account.connected" | "company-account.disconnected" | "company-account.deleted" | "ignore">>;
  /**
   * Location of the user's id, a short text or a whole number.
   * @default - as the provider documents it
   */
  readonly userId?: string | { readonly header: string };
  /**
   * Location of the account's id, a short text or a whole number.
   * @default - as the provider documents it
   */
  readonly accountId?: string | { readonly header: string };
  /**
   * Location of the company account's id, a short text or a whole number.
   * @default - as the provider documents it
   */
  readonly companyAccountId?: string | { readonly header: string };
  /**
   * Location of the data source's id, a short text or a whole number.
   * @default - as the provider documents it
   */
  readonly datasourceId?: string | { readonly header: string };
  /**
   * Location of the endpoint's name.
   * @default - as the provider documents it
   */
  readonly endpoint?: string | { readonly header: string };
  /**
   * Location of the provider's unique id of the event.
   * @default - as the provider documents it
   */
  readonly eventId?: string | { readonly header: string };
  /**
   * Location of the event's time: a date-time (`2026-03-01 12:00:00 UTC`, RFC 3339) or Unix time.
   * @default - as the provider documents it
   */
  readonly time?: string | { readonly header: string };
  /**
   * Location of the flag whether the account is connected: true or false.
   * @default - as the provider documents it
   */
  readonly connected?: string | { readonly header: string };
  /**
   * Location of the flag whether data is available: true or false.
   * @default - as the provider documents it
   */
  readonly dataAvailable?: string | { readonly header: string };
  /**
   * Location of the first date that the data covers.
   * @default - as the provider documents it
   */
  readonly dateStart?: string | { readonly header: string };
  /**
   * Location of the last date that the data covers.
   * @default - as the provider documents it
   */
  readonly dateEnd?: string | { readonly header: string };
  /**
   * Location of the provider's reason why an account is connected or not: a short text. Messages about accounts then have `reason` and `since`.
   * @default - as the provider documents it
   */
  readonly reason?: string | { readonly header: string };
  /**
   * `uuid`: ids must be UUIDs. `any`: ids may have any form.
   * @default - as the provider documents it
   */
  readonly ids?: "uuid" | "any";
  /**
   * JMESPath expression for the list of events in a webhook that holds several, at most 1,000 (how). If it finds nothing, the webhook is one event.
   * @default - as the provider documents it
   */
  readonly events?: string;
  /**
   * What identifies an event. `body`, the default: the bytes of the webhook. `eventId`: the provider's id, for a provider whose retries have other bytes; needs `eventId`, and an event without the id becomes a dead letter.
   * @default - as the provider documents it
   */
  readonly identity?: "body" | "eventId";
  /** @default - as the provider documents it */
  readonly attributes?: Readonly<Record<string, string>>;
}
