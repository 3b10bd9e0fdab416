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
   * Where the event's name is.
   * @default - as the provider documents it
   */
  readonly type?: string | { readonly header: string };
  /**
   * What the names mean: `{"<the provider's name>": "<our type>"}`, with our types from events.md, or `"ignore"`. Names that are only ignored are added to the default's.
   * @default - as the provider documents it
   */
  readonly types?:
    | Readonly<Record<string, "user.created" | "user.updated" | "user.deleted" | "account.created" | "account.updated" | "account.connected" | "account.disconnected" | "account.deleted" | "endpoint.updated" | "company-account.created" | "company-account.updated" | "company-account.connected" | "company-account.disconnected" | "company-account.deleted" | "ignore">>;
  /**
   * Where ids and names are: short texts or whole numbers.
   * @default - as the provider documents it
   */
  readonly userId?: string | { readonly header: string };
  /**
   * Where ids and names are: short texts or whole numbers.
   * @default - as the provider documents it
   */
  readonly accountId?: string | { readonly header: string };
  /**
   * Where ids and names are: short texts or whole numbers.
   * @default - as the provider documents it
   */
  readonly companyAccountId?: string | { readonly header: string };
  /**
   * Where ids and names are: short texts or whole numbers.
   * @default - as the provider documents it
   */
  readonly datasourceId?: string | { readonly header: string };
  /**
   * Where ids and names are: short texts or whole numbers.
   * @default - as the provider documents it
   */
  readonly endpoint?: string | { readonly header: string };
  /**
   * Where the provider's own id of the event is, which no other event has.
   * @default - as the provider documents it
   */
  readonly eventId?: string | { readonly header: string };
  /**
   * Where the event's own time is: a date-time (`2026-03-01 12:00:00 UTC`, RFC 3339) or Unix time.
   * @default - as the provider documents it
   */
  readonly time?: string | { readonly header: string };
  /**
   * Where true or false is.
   * @default - as the provider documents it
   */
  readonly connected?: string | { readonly header: string };
  /**
   * Where true or false is.
   * @default - as the provider documents it
   */
  readonly dataAvailable?: string | { readonly header: string };
  /**
   * Where the dates are that the data covers.
   * @default - as the provider documents it
   */
  readonly dateStart?: string | { readonly header: string };
  /**
   * Where the dates are that the data covers.
   * @default - as the provider documents it
   */
  readonly dateEnd?: string | { readonly header: string };
  /**
   * Where the provider says why an account is connected or is not: a short text. Messages about accounts then have `reason` and `since`.
   * @default - as the provider documents it
   */
  readonly reason?: string | { readonly header: string };
  /**
   * `uuid`: ids must be UUIDs; `any`: they need not.
   * @default - as the provider documents it
   */
  readonly ids?: "uuid" | "any";
  /**
   * A JMESPath expression that finds the list of events in a webhook that holds several, at most 1,000 (how). Where it finds nothing the webhook is one event.
   * @default - as the provider documents it
   */
  readonly events?: string;
  /**
   * What makes two webhooks the same event: `body`, their bytes, which is the default, or `eventId`, the provider's id, where a retry has other bytes. Needs `eventId` beside it; an event without the id becomes a dead letter.
   * @default - as the provider documents it
   */
  readonly identity?: "body" | "eventId";
  /** @default - as the provider documents it */
  readonly attributes?: Readonly<Record<string, string>>;
}
