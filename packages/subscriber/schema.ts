/** The part of JSON Schema that messages are checked by. */
export type Schema = TextSchema | FlagSchema | ObjectSchema;

export type TextSchema = {
  readonly type: "string";
  readonly minLength?: number;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly format?: "date-time";
};

type FlagSchema = { readonly type: "boolean"; readonly const?: true };

/** Fields that `properties` does not name may be there, too: a reader passes them over. */
export type ObjectSchema = {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  /** Exactly one of these fields is there. */
  readonly oneOf?: readonly { readonly required: readonly [string] }[];
};
