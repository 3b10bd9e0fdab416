/** The part of JSON Schema that messages and documents use. */
export type Schema =
  | TextSchema
  | FlagSchema
  | CountSchema
  | NumberSchema
  | AnySchema
  | ListSchema
  | ObjectSchema;

export type TextSchema = {
  readonly type: "string";
  readonly minLength?: number;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly format?: "date-time";
  /** As in OpenAPI 3.0: null is allowed too. */
  readonly nullable?: true;
};

type FlagSchema = { readonly type: "boolean"; readonly const?: true };

type CountSchema = { readonly type: "integer"; readonly minimum: 0 };

type NumberSchema = { readonly type: "number" };

export type ListSchema = { readonly type: "array"; readonly items: Schema };

type AnySchema = { readonly type?: undefined };

/** Fields that `properties` does not name are allowed; a reader ignores them. */
export type ObjectSchema = {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  /** Fields that `properties` does not name are strings. */
  readonly additionalProperties?: { readonly type: "string" };
  /** Exactly one of these fields is present. */
  readonly oneOf?: readonly { readonly required: readonly [string] }[];
};
