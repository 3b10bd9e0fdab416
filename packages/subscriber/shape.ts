import type { ExactNumber } from "./json.ts";
import type { Schema } from "./schema.ts";

/** The TypeScript type of the values that a schema allows. */
export type TypeOf<S> = S extends { readonly type: "string"; readonly nullable: true }
  ? string | null
  : S extends { readonly type: "string" }
    ? string
    : S extends { readonly type: "number" }
      ? number | ExactNumber
      : S extends { readonly items: infer Item }
        ? readonly TypeOf<Item>[]
        : S extends { readonly properties: infer P; readonly required: readonly (infer Required)[] }
          ? Flat<
              { readonly [Name in keyof P as Name extends Required ? Name : never]: TypeOf<P[Name]> } & {
                readonly [Name in keyof P as Name extends Required ? never : Name]?: TypeOf<P[Name]>;
              }
            >
          : unknown;

type Flat<T> = { [Name in keyof T]: T[Name] };
type Properties = Readonly<Record<string, Schema>>;

/** The schema of an object with required and optional fields. */
export function object<const R extends Properties, const O extends Properties>(required: R, optional: O) {
  return {
    type: "object",
    properties: { ...required, ...optional },
    required: namesOf(required),
  } as const;
}

export function list<const Item extends Schema>(items: Item) {
  return { type: "array", items } as const;
}

function namesOf<P extends Properties>(properties: P): readonly Extract<keyof P, string>[] {
  const isName = (name: string): name is Extract<keyof P, string> => name in properties;
  return Object.keys(properties).filter(isName);
}
