// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.

/** The settings `mapping.*`. */
export interface MappingProps {
  readonly users?: KindMappingProps;
  readonly accounts?: KindMappingProps;
  readonly endpoints?: KindMappingProps;
  readonly "company-accounts"?: KindMappingProps;
}

/** Where the fields of an event are in a webhook of one kind. */
export interface KindMappingProps {
  /** Where the event's name is. */
  readonly type?: string | { readonly header: string };
  /** What the names mean: `{"<the provider's name>": "<our type>"}`, with our types from events.md. */
  readonly types?:
    | Readonly<Record<string, "user.created" | "user.updated" | "user.deleted" | "account.created" | "account.updated" | "account.connected" | "account.disconnected" | "account.deleted" | "endpoint.updated" | "company-account.created" | "company-account.updated" | "company-account.connected" | "company-account.disconnected" | "company-account.deleted">>;
  /** Where ids and names are: short texts or whole numbers. */
  readonly userId?: string | { readonly header: string };
  /** Where ids and names are: short texts or whole numbers. */
  readonly accountId?: string | { readonly header: string };
  /** Where ids and names are: short texts or whole numbers. */
  readonly companyAccountId?: string | { readonly header: string };
  /** Where ids and names are: short texts or whole numbers. */
  readonly datasourceId?: string | { readonly header: string };
  /** Where ids and names are: short texts or whole numbers. */
  readonly endpoint?: string | { readonly header: string };
  /** Where the provider's own id of the event is, which no other event has. */
  readonly eventId?: string | { readonly header: string };
  /** Where the event's own time is: a date-time (`2026-03-01 12:00:00 UTC`, RFC 3339) or Unix time. */
  readonly time?: string | { readonly header: string };
  /** Where true or false is. */
  readonly connected?: string | { readonly header: string };
  /** Where true or false is. */
  readonly dataAvailable?: string | { readonly header: string };
  /** Where the dates are that the data covers. */
  readonly dateStart?: string | { readonly header: string };
  /** Where the dates are that the data covers. */
  readonly dateEnd?: string | { readonly header: string };
  /** `uuid`: ids must be UUIDs; `any`: they need not. */
  readonly ids?: "uuid" | "any";
}
