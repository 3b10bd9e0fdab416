/** The subset of JSON Schema that describes messages. It is valid in draft 2020-12 and draft 7. */
export type Schema =
  | {
      readonly type: "string";
      readonly description: string;
      readonly minLength?: number;
      readonly const?: string;
      readonly enum?: readonly string[];
      readonly pattern?: string;
      readonly format?: "date-time";
    }
  | { readonly type: "boolean"; readonly description: string; readonly const?: true }
  /** A whole number that is not negative. */
  | { readonly type: "integer"; readonly description: string; readonly minimum: 0 }
  /** Any JSON value. */
  | { readonly type?: undefined; readonly description: string }
  | { readonly type: "array"; readonly description: string; readonly items: Schema }
  | ObjectSchema;

/** Fields that are not in `properties` are allowed, and readers ignore them. */
export type ObjectSchema = {
  readonly type: "object";
  readonly description?: string;
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  /** Fields that are not in `properties` are strings. */
  readonly additionalProperties?: { readonly type: "string" };
  /** Exactly one of these fields is present. */
  readonly oneOf?: readonly { readonly required: readonly [string] }[];
};

/** The type that a schema describes. */
export type TypeOf<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: "string" }
      ? string
      : S extends { readonly type: "boolean" }
        ? boolean
        : S extends { readonly type: "integer" }
          ? number
          : S extends { readonly items: infer Item }
            ? readonly TypeOf<Item>[]
            : S extends { readonly additionalProperties: { readonly type: "string" } }
              ? Readonly<Record<string, string>>
              : S extends { readonly properties: infer P; readonly required: readonly (infer Required)[] }
                ? Flat<
                    {
                      readonly [Name in keyof P as Name extends Required ? Name : never]: TypeOf<P[Name]>;
                    } & {
                      readonly [Name in keyof P as Name extends Required ? never : Name]?: TypeOf<P[Name]>;
                    }
                  >
                : unknown;

type Flat<T> = { [Name in keyof T]: T[Name] };

export function text(description: string) {
  return { type: "string", description, minLength: 1 } as const;
}

export function count(description: string) {
  return { type: "integer", description, minimum: 0 } as const;
}

export function flag(description: string) {
  return { type: "boolean", description } as const;
}

/** A time in ISO 8601. */
export function instant(description: string) {
  return { type: "string", format: "date-time", description } as const;
}

/** An object with string values and any field names. */
export function texts(description: string) {
  return {
    type: "object",
    description,
    properties: {},
    required: [],
    additionalProperties: { type: "string" },
  } as const;
}

export function list<const Item extends Schema>(items: Item, description: string) {
  return { type: "array", description, items } as const;
}

type Properties = Readonly<Record<string, Schema>>;

/** An object whose `required` fields are always present and whose `optional` fields may be absent. */
export function object<const R extends Properties, const O extends Properties>(required: R, optional: O) {
  return {
    type: "object",
    properties: { ...required, ...optional },
    required: namesOf(required),
  } as const;
}

/** The names of an object's fields, in their order. */
export function namesOf<T extends object>(fields: T): readonly Extract<keyof T, string>[] {
  const isName = (name: string): name is Extract<keyof T, string> => name in fields;
  return Object.keys(fields).filter(isName);
}

/** Attributes of the user that a message is about, or that owns its account or data. */
export const userAttributes = {
  attributes: texts(
    "Values that the stage's `mapping.users.attributes` takes from the user's metadata, such as a loan's number, as known " +
      "when the message is sent. Absent while none are known, empty after they were removed.",
  ),
  attributesSequence: {
    type: "string",
    pattern: "^[0-9]{20}$",
    description:
      "Orders `attributes` across all messages about a user, its accounts and their data: the highest is newest. " +
      "Do not compare it with a `sequence`.",
  },
} as const;

/** The CloudEvents attributes of every message, in addition to `type` and `data`. */
export const attributes = object(
  {
    specversion: { type: "string", const: "1.0", description: "The version of CloudEvents." },
    id: text(
      "Identifies the message. It is the same whenever this message is sent: skip ids that you have handled.",
    ),
    source: { ...text("`/income-events/<stage>`."), pattern: "^/income-events/." },
    subject: text(
      "`user/<id>`, `account/<id>` or `company-account/<id>`. Data adds `/<endpoint>`, and `/<first day>..<last day>` if it " +
        "is read by dates; readiness adds `/readiness`. `%`, `/` and `#` in an id are percent-encoded. A test has " +
        "`subscriber/<name>`.",
    ),
    time: instant("ISO 8601 in UTC. `type` says what it is the time of."),
    datacontenttype: { type: "string", const: "application/json", description: "The media type of `data`." },
    sequence: {
      type: "string",
      pattern: "^[0-9]{20}$",
      description:
        "Orders the messages of one `subject`: the message with the higher value, compared as text, is newer.",
    },
  },
  {
    replayid: text("The id of the replay that sent the message. Absent in other messages."),
    correlationid: text(
      "The id of what led to the message, as in the pipeline's logs: the event (also if the provider was asked or data was " +
        "read because of it), the erasure, or the comparison with the provider. Absent in a test, and if an earlier " +
        "release recorded it.",
    ),
  },
);
