/** The part of JSON Schema that messages are checked by. */
export type Schema = TextSchema | FlagSchema | CountSchema | AnySchema | ObjectSchema;

export type TextSchema = {
  readonly type: "string";
  readonly minLength?: number;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly format?: "date-time";
};

type FlagSchema = { readonly type: "boolean"; readonly const?: true };

type CountSchema = { readonly type: "integer"; readonly minimum: 0 };

/** Whatever there is. */
type AnySchema = { readonly type?: undefined };

/** Fields that `properties` does not name may be there, too: a reader passes them over. */
export type ObjectSchema = {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  /** Exactly one of these fields is there. */
  readonly oneOf?: readonly { readonly required: readonly [string] }[];
};
