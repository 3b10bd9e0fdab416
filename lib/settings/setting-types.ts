import { z } from "zod";
import { endpointName } from "../../domain/event/events.ts";

/** A group of settings: refuses a key that it does not know, and names those that it does. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape).join(", ");
  return z.strictObject(shape, {
    error: ({ code, input }) =>
      code === "unrecognized_keys"
        ? `no such setting; remove it, or correct it to one of: ${known}`
        : `is ${show(input)}; write an object with any of: ${known}`,
  });
}

export function wholeNumber(min: number, max: number, because = "") {
  const remedy = { error: remedyOf(`set it to a whole number from ${min} to ${max}${because}`) };
  return z.int(remedy).min(min, remedy).max(max, remedy);
}

const waits = new WeakSet<z.core.$ZodType>();
const works = new WeakSet<z.core.$ZodType>();

/** A whole number of seconds, minutes, hours or days (its name says which) that is waited: see `scaleDurations`. */
export function scalableDuration(min: number, max: number, because = "") {
  const type = wholeNumber(min, max, because);
  waits.add(type);
  return type;
}

/** The most that real work may take, in the unit of its name: the same in every stage, and never divided. */
export function fixedDuration(min: number, max: number, because = "") {
  const type = wholeNumber(min, max, because);
  works.add(type);
  return type;
}

/** Which kind of time a setting is, if it is one. */
export function timeKindOf(type: z.core.$ZodType): "waiting" | "working" | undefined {
  if (waits.has(type)) return "waiting";
  return works.has(type) ? "working" : undefined;
}

export function choice<const Values extends readonly string[]>(values: Values) {
  return z.enum(values, { error: remedyOf(`set it to one of: ${values.join(", ")}`) });
}

export function flag(because = "") {
  return z.boolean({ error: remedyOf(`set it to true or false${because}`) });
}

/** A text of a form, for example a name; `remedy` says what to write. */
export function text(form: RegExp, remedy: string) {
  const error = remedyOf(remedy);
  return z.string({ error }).regex(form, { error });
}

/** The name of one of the provider's endpoints. */
export const endpoint = text(endpointName, 'write an endpoint\'s name, such as "income"');

export function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(item, { error: remedyOf("write a list: […]") });
}

/** An error that says what the setting is now and what to write instead. */
export function remedyOf(remedy: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => `is ${show(input)}; ${remedy}`;
}

function show(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value);
}
