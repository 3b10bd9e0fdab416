import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { MessageType as DomainType } from "../../../domain/event/events.ts";
import { attributes as sentAttributes } from "../../../domain/message/json-schema.ts";
import * as domain from "../../../domain/message/message-schemas.ts";
import { attributes, checks } from "../../../packages/subscriber/checks.ts";
import type { DataOf, Message, MessageOf, MessageType } from "../../../packages/subscriber/contract.ts";
import { readMessage } from "../../../packages/subscriber/read-message.ts";
import { messageHistories } from "../../domain/message/message-histories.ts";

const { messageSchema, messageTypes } = domain;
const ajv = new Ajv2020({ strict: true, strictRequired: false });
formats.default(ajv);
const schemas = new Map(messageTypes.map((type) => [type, ajv.compile(messageSchema(type))]));

const message = {
  specversion: "1.0",
  id: "an id",
  source: "/income-events/prod",
  type: "endpoint.updated",
  subject: "account/a/income",
  time: "2026-11-21T12:00:00.000Z",
  datacontenttype: "application/json",
  sequence: "00000000000000000001",
  data: { accountId: "a", endpoint: "income", outcome: "applied", dataAvailable: true },
};
const read = (value: object) => readMessage(JSON.stringify(value));
const ofData = (change: object) => ({ data: { ...message.data, ...change } });

describe("a message of the contract", () => {
  it.each(["a later release's type", "toString"])("of the unknown type %s is reported as such", (type) => {
    const later = { ...message, type, data: undefined };
    const { data: _, ...announced } = later;
    expect(read(later)).toEqual({ type: "unknown", message: announced });
  });
});

describe("a text that is no message of the contract is unreadable", () => {
  it.each(["", "{", "null", "5", '"text"', "[]"])("where it is no JSON object: %j", (text) => {
    expect(readMessage(text)).toEqual({ type: "unreadable", reason: "the message is no JSON object" });
  });

  it.each<[string, object]>([
    ["type: expected a text", { type: "" }],
    ["sequence: is missing", { type: "a later release's type", sequence: undefined }],
    ["id: expected a text", { id: "" }],
    ["source: expected a text like ^/income-events/.", { source: "/others" }],
    ["sequence: expected a text like ^[0-9]{20}$", { sequence: "1" }],
    ["time: expected date-time", { time: "2026-13-41T12:00:00Z" }],
    ["data: expected an object", { data: "x" }],
    ["data.test: expected true", { type: "subscriber.test", data: { test: "true" } }],
    ["data.endpoint: is missing", ofData({ endpoint: undefined })],
    ["data.outcome: expected one of applied, agreed, stale, unconfirmed", ofData({ outcome: "done" })],
    ["data.dataAvailable: expected true or false", ofData({ dataAvailable: "true" })],
    ["data.accountId, companyAccountId: expected one of these", ofData({ accountId: undefined })],
    ["data.accountId, companyAccountId: expected one of these", ofData({ companyAccountId: "c" })],
  ])("with its reason: %s", (reason, change) => {
    expect(read({ ...message, ...change })).toEqual({ type: "unreadable", reason });
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

  const oneMessage = messageHistories
    .filter(({ length }) => length > 0)
    .chain((messages) => fc.constantFrom(...messages));

  it("accepts what the schema of its type accepts, and names the invalid field otherwise", () => {
    fc.assert(
      fc.property(oneMessage, edit, (message, change) => {
        const text = JSON.stringify(edited(message, change));
        const value = JSON.parse(text);
        const read = readMessage(text);
        const schema = messageTypes.find((type) => type === value.type);
        if (schema === undefined) expect(read.type).not.toBe("message");
        else expect(read.type).toBe(schemas.get(schema)?.(value) === true ? "message" : "unreadable");
        if (read.type === "message") expect(read.message).toEqual(value);
        if (read.type === "unreadable")
          expect(read.reason).toMatch(/^[a-zA-Z., ]+: (is missing|expected .+)$/);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("the package's own copy of the contract", () => {
  it("has the types that the pipeline sends", () => {
    expectTypeOf<MessageType>().toEqualTypeOf<DomainType>();
    expectTypeOf<Message>().branded.toEqualTypeOf<domain.Message>();
    expectTypeOf<MessageOf<"data.updated">>().branded.toEqualTypeOf<domain.MessageOf<"data.updated">>();
    expectTypeOf<DataOf<"account.connected">>().toEqualTypeOf<domain.DataOf<"account.connected">>();
    expectTypeOf<DataOf<"user.erased">>().not.toEqualTypeOf<domain.DataOf<"account.erased">>();
  });

  it("has the schemas and the order of each type, without what only people read", () => {
    expect(Object.keys(checks)).toEqual([...messageTypes]);
    expect(attributes).toEqual(withoutDescriptions(sentAttributes));
    for (const type of messageTypes) {
      const { data, newestOf } = domain.contract[type];
      expect(checks[type], type).toEqual({ data: withoutDescriptions(data), newestOf });
    }
  });

  function withoutDescriptions(schema: object): unknown {
    return JSON.parse(JSON.stringify(schema, (name, value) => (name === "description" ? undefined : value)));
  }
});
