import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Store } from "./store.ts";
import { newerWebhookKinds } from "./webhooks.ts";

/** Events of each kind and answers of the API, whose shape can be changed. */
export const shapedThings = [
  "users",
  "accounts",
  "endpoints",
  "company-accounts",
  ...newerWebhookKinds,
  "user-answer",
  "account-answer",
  "data-answer",
] as const;
export type ShapedThing = (typeof shapedThings)[number];

export type Shapes = ReturnType<typeof createShapes>;

/** Rewrites payloads by templates, to simulate another provider. */
export function createShapes(store: Store) {
  const templates = store.collection("shapes", z.unknown());
  return {
    /**
     * Sets a template, which is any JSON. A string `{{path}}` is replaced by the value at that path of the
     * usual payload (names joined by dots), or null; inside a longer string, by its text. `undefined` restores
     * the usual shape.
     */
    set: (thing: ShapedThing, template: unknown): void => {
      if (template === undefined) templates.delete(thing);
      else templates.set(thing, template);
    },
    /** Applies the template to a payload; undefined if there is none. */
    apply: (thing: ShapedThing, payload: unknown): { readonly shaped: unknown } | undefined =>
      templates.has(thing) ? { shaped: fill(templates.get(thing), payload) } : undefined,
  };
}

const placeholder = /\{\{\s*([\w.-]+)\s*\}\}/g;
const onlyPlaceholder = /^\{\{\s*([\w.-]+)\s*\}\}$/;

function fill(template: unknown, payload: unknown): unknown {
  if (typeof template === "string") return fillText(template, payload);
  if (Array.isArray(template)) return template.map((part: unknown) => fill(part, payload));
  if (typeof template !== "object" || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, part]) => [name, fill(part, payload)]));
}

function fillText(template: string, payload: unknown): unknown {
  const whole = onlyPlaceholder.exec(template)?.[1];
  if (whole !== undefined) return valueAt(payload, whole) ?? null;
  return template.replaceAll(placeholder, (_match, path: string) => String(valueAt(payload, path) ?? ""));
}

function valueAt(payload: unknown, path: string): unknown {
  let value = payload;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    value = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
  }
  return value;
}

/** Sends an answer. A changed shape bypasses the route's schema, which describes the usual one. */
export function answer(reply: FastifyReply, shapes: Shapes, thing: ShapedThing, value: object): unknown {
  const shape = shapes.apply(thing, value);
  if (shape === undefined) return value;
  return reply.type("application/json").send(Buffer.from(JSON.stringify(shape.shaped)));
}
