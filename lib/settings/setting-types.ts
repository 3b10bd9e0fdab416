import { z } from "zod";
import { endpointName } from "../../domain/event/events.ts";

/** A group of settings. An unknown key is refused, with the list of known keys. */
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

/** A waiting time in whole seconds, minutes, hours or days, as its name says; see `scaleDurations`. */
export function scalableDuration(min: number, max: number, because = "") {
  const type = wholeNumber(min, max, because);
  waits.add(type);
  return type;
}

/** Maximum time of real work, in the unit of its name: the same in every stage, and never divided. */
export function fixedDuration(min: number, max: number, because = "") {
  const type = wholeNumber(min, max, because);
  works.add(type);
  return type;
}

/** Whether a setting is a waiting time, a working time or neither. */
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

/** A text that matches a pattern; `remedy` says what to write. */
export function text(form: RegExp, remedy: string) {
  const error = remedyOf(remedy);
  return z.string({ error }).regex(form, { error });
}

/** Name of one of the provider's endpoints. */
export const endpoint = text(endpointName, 'write an endpoint\'s name, such as "income"');

export function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(item, { error: remedyOf("write a list: […]") });
}

/** Creates a message with the current value and what to write instead. */
export function remedyOf(remedy: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => `is ${show(input)}; ${remedy}`;
}

function show(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value);
}
