import fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { MessageType, Outcome } from "../../../domain/event/events.ts";
import {
  type DataOf,
  type Message,
  type MessageOf,
  messageSchema,
  messageSource,
  messageTypes,
} from "../../../domain/message/message-schemas.ts";
import { testMessage } from "../../../domain/message/test-message.ts";
import { contractMessage } from "../../support/contract-message.ts";
import { messageHistories } from "./message-histories.ts";

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
      readonly attributes?: Readonly<Record<string, string>>;
      readonly attributesSequence?: string;
    }>();
    expectTypeOf<MessageOf<"data.updated">["sequence"]>().toEqualTypeOf<string>();
    expectTypeOf<Message["specversion"]>().toEqualTypeOf<"1.0">();
    expect(messageTypes).toEqual([...new Set(messageTypes)]);
  });

  it("requires of each type what every message has", () => {
    const {
      data: _,
      type: __,
      ...attributes
    } = testMessage("id", "risk", messageSource("prod"), new Date(0));
    expect(attributes.source).toBe("/income-events/prod");
    for (const type of messageTypes) {
      const { required, ...schema } = messageSchema(type);
      expect(new Set<string>(required)).toEqual(new Set([...Object.keys(attributes), "type", "data"]));
      expect(schema).toMatchObject({ title: type, type: "object", properties: { type: { const: type } } });
      for (const name of required) expect(schema.properties).toHaveProperty(name);
    }
  });

  it("allows every message of the domain, and no unnamed field", () => {
    fc.assert(
      fc.property(messageHistories, (messages) => {
        for (const message of messages) expect(contractMessage(JSON.stringify(message))).toEqual(message);
      }),
      { numRuns: 2000 },
    );
  });

  it("names no field that the domain never produces, and requires each that is always present", () => {
    const messages = fc.sample(messageHistories, { numRuns: 6000, seed: 1 }).flat();
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
