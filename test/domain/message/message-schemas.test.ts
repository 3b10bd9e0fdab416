import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { DataOf, Message, MessageOf } from "../../../domain/message/message-schemas.ts";
import type { MessageType } from "../../../domain/message/message-types.ts";
import { readMessage } from "../../../domain/message/read-message.ts";
import type { Outcome } from "../../../domain/state/last-change.ts";
import { messageSchema, messageTypes } from "../../../tools/documents/message-schema.ts";
import { contractMessage } from "../../support/contract-message.ts";
import { stories } from "./stories.ts";

const ajv = new Ajv2020({ strict: true, strictRequired: false });
formats.default(ajv);
const schemas = new Map(messageTypes.map((type) => [type, ajv.compile(messageSchema(type))]));

describe("the contract with subscribers", () => {
  it("has the types of messages, as types and as schemas", () => {
    expectTypeOf<Message["type"]>().toEqualTypeOf<MessageType>();
    expectTypeOf<DataOf<"account.connected">["outcome"]>().toEqualTypeOf<Outcome>();
    expectTypeOf<DataOf<"user.created">>().toEqualTypeOf<{
      readonly userId: string;
      readonly deleted: boolean;
      readonly unconfirmed: boolean;
      readonly outcome: Outcome;
      readonly reconciled?: true;
    }>();
    expectTypeOf<MessageOf<"data.updated">["sequence"]>().toEqualTypeOf<string>();
    expectTypeOf<Message["specversion"]>().toEqualTypeOf<"1.0">();
    expect(messageTypes).toEqual([...new Set(messageTypes)]);
  });

  it("allows all that the domain produces, and no field that it does not name", () => {
    fc.assert(
      fc.property(stories, (messages) => {
        for (const message of messages) expect(contractMessage(JSON.stringify(message))).toEqual(message);
      }),
      { numRuns: 2000 },
    );
  });

  it("promises no field that the domain never produces, and requires each that is always there", () => {
    const messages = fc.sample(stories, { numRuns: 3000, seed: 1 }).flat();
    for (const type of messageTypes) {
      const seen = messages
        .filter((message) => message.type === type)
        .map(({ data }) => Object.entries(data));
      const { properties, required } = messageSchema(type).properties.data;
      const countOf = (name: string) =>
        seen.filter((entries) => entries.some(([field]) => field === name)).length;
      for (const name of Object.keys(properties)) {
        const count = countOf(name);
        const isRequired = required.some((field) => field === name);
        expect(count, `${type}: ${name} is there`).toBeGreaterThan(0);
        expect(count === seen.length, `${type}: ${name} is always there`).toBe(isRequired);
      }
    }
  });
});

describe("reading a message", () => {
  const text = fc.constantFrom("", "a", "1.0", "2026-01-01T00:00:00.000Z", "00000000000000000001", "stale");
  const anything = fc.oneof(
    text,
    fc.boolean(),
    fc.nat(3),
    fc.constant(null),
    fc.constant({}),
    fc.constant([]),
  );
  type Edit = {
    readonly of: "message" | "data";
    readonly at: number;
    readonly put: unknown;
    readonly add: string | undefined;
  };
  const edit: fc.Arbitrary<Edit> = fc.record({
    of: fc.constantFrom("message", "data"),
    at: fc.nat(20),
    put: fc.option(anything, { nil: undefined }),
    add: fc.constantFrom(undefined, undefined, "unheardOf", "companyAccountId"),
  });

  function edited(message: Message, { of, at, put, add }: Edit): { readonly [name: string]: unknown } {
    const change = (fields: object) => {
      const names = Object.keys(fields);
      const name = add ?? names[at % names.length] ?? "";
      return { ...fields, [name]: put };
    };
    return of === "message" ? change(message) : { ...message, data: change(message.data) };
  }

  const oneMessage = stories
    .filter(({ length }) => length > 0)
    .chain((messages) => fc.constantFrom(...messages));

  it("takes what the schema of its type takes, and names the field where it does not", () => {
    fc.assert(
      fc.property(oneMessage, edit, (message, change) => {
        const text = JSON.stringify(edited(message, change));
        const value = JSON.parse(text);
        const read = readMessage(text);
        const schema = messageTypes.find((type) => type === value.type);
        if (schema === undefined) expect(read.as).not.toBe("message");
        else expect(read.as).toBe(schemas.get(schema)?.(value) === true ? "message" : "unreadable");
        if (read.as === "message") expect(read.message).toEqual(value);
        if (read.as === "unreadable") expect(read.reason).toMatch(/^[a-zA-Z., ]+: (is missing|expected .+)$/);
      }),
      { numRuns: 3000 },
    );
  });
});
