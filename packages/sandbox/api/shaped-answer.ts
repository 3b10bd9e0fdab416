import type { FastifyReply } from "fastify";
import type { ShapedThing, Shapes } from "../shapes.ts";

/** Sends an answer, in its shape where it was given one: past the route's schema, which describes the usual one. */
export function answer(reply: FastifyReply, shapes: Shapes, thing: ShapedThing, value: object): unknown {
  const shape = shapes.apply(thing, value);
  if (shape === undefined) return value;
  return reply.type("application/json").send(Buffer.from(JSON.stringify(shape.shaped)));
}
