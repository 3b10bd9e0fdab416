import { readFileSync } from "node:fs";
import { join } from "node:path";
import specs from "@asyncapi/specs";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { type Fields, fieldsOf } from "../../domain/core/parse.ts";
import { messageSchema, messageTypes } from "../../domain/message/message-schemas.ts";
import { readMessage } from "../../packages/subscriber/read-message.ts";
import { asyncApi, breaksOf, incompatibilities } from "../../scripts/documents/asyncapi.ts";
import { exampleOf } from "../../scripts/documents/examples.ts";

const published = readFileSync(join(import.meta.dirname, "../../docs/reference/asyncapi.json"), "utf8");

describe("the schema of a message", () => {
  const ajv = new Ajv2020({ strict: true, strictRequired: false });
  formats.default(ajv);

  it.each(messageTypes)("accepts the example of %s, as our reader does", (type) => {
    const validate = ajv.compile(messageSchema(type));
    const example = exampleOf(type);
    expect(validate(example), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...example, more: 1, data: { ...example.data, more: 1 } })).toBe(true);
    expect(validate({ ...example, type: "other" })).toBe(false);
    expect(readMessage(JSON.stringify(example))).toEqual({ type: "message", message: example });
  });

  it("is compatible with the published one, and an incompatible release is refused", () => {
    expect(breaksOf(JSON.parse(published))).toEqual([]);
    const promised = JSON.parse(published);
    const { messages } = promised.components;
    messages["data.deleted"] = structuredClone(messages["data.updated"]);
    messages["data.updated"].payload.required.push("sent");
    expect(breaksOf(promised)).toEqual(["data.updated: sent: is required no more", "data.deleted: is gone"]);
  });
});

describe("the AsyncAPI document", () => {
  const document: Fields = JSON.parse(asyncApi());

  it("is one of AsyncAPI 3", () => {
    const ajv = new Ajv({ strict: false, allErrors: true, logger: false });
    formats.default(ajv);
    const specification: Fields = JSON.parse(JSON.stringify(specs.schemasWithoutId["3.0.0"]));
    const validate = ajv.compile(specification);
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
    expect(validate({ ...document, channels: { subscriber: { address: 1 } } })).toBe(false);
  });

  it("has all types on the subscriber's channel, and no broken reference", () => {
    const channels = fieldsOf(document.channels, "channels");
    const { messages } = fieldsOf(channels.subscriber, "subscriber");
    expect(Object.keys(fieldsOf(messages, "messages"))).toEqual([...messageTypes]);
    const references = [...asyncApi().matchAll(/"\$ref": "#\/([^"]+)"/g)];
    expect(references.length).toBe(messageTypes.length + 1);
    for (const [, path = ""] of references) {
      const end = path.split("/").reduce<unknown>((at, step) => fieldsOf(at, path)[step], document);
      expect(fieldsOf(end, path)).toBeDefined();
    }
  });
});

describe("a change of a schema", () => {
  const before: Fields = JSON.parse(JSON.stringify(messageSchema("account.updated")));
  const outcomes = ["applied", "agreed", "stale", "unconfirmed"];
  const data = (
    edit: (data: Record<string, unknown>, fields: Record<string, unknown>) => unknown,
  ): Fields => {
    const copy = structuredClone(before);
    const root: Record<string, unknown> = fieldsOf(copy.properties, "properties");
    const of: Record<string, unknown> = fieldsOf(root.data, "data");
    edit(of, fieldsOf(of.properties, "properties"));
    return copy;
  };

  type Edit = Parameters<typeof data>[0];

  it.each<[string, Edit, string]>([
    ["removes a field", (_, fields) => delete fields.userId, "data.userId: is gone"],
    ["requires a field no more", (of) => (of.required = ["accountId"]), "data.outcome: is required no more"],
    [
      "changes a type",
      (_, fields) => (fields.deleted = { type: "string" }),
      "data.deleted: has another type",
    ],
    [
      "narrows a type",
      (_, fields) => (fields.userId = { type: "string", minLength: 1, pattern: "^a" }),
      "data.userId: has another pattern",
    ],
    [
      "adds a listed value",
      (_, fields) => (fields.outcome = { type: "string", enum: [...outcomes, "late"] }),
      "data.outcome: has another enum",
    ],
    [
      "says which of several fields is there",
      (of) => (of.oneOf = [{ required: ["userId"] }]),
      "data: has another oneOf",
    ],
    [
      "refuses what it does not name",
      (of) => (of.additionalProperties = false),
      "data: has another additionalProperties",
    ],
  ])("that %s is refused", (_, edit, problem) => {
    expect(incompatibilities(before, data(edit))).toContain(problem);
  });

  it("of a list's items counts like that of a field, and other descriptions do not", () => {
    const list = (items: object) => ({ properties: { ids: { type: "array", items } } });
    const one = list({ type: "string", description: "An id." });
    expect(incompatibilities(one, list({ type: "string", description: "A user's id." }))).toEqual([]);
    expect(incompatibilities(one, list({ type: "number" }))).toEqual(["ids[]: has another type"]);
    expect(incompatibilities(one, { properties: { ids: { type: "array" } } })).toEqual([
      "ids: has another items",
    ]);
  });

  it.each<[string, Edit]>([
    ["adds a field", (_, fields) => (fields.more = { type: "string" })],
    [
      "adds a required field",
      (of, fields) => {
        fields.more = { type: "string" };
        of.required = ["more", "accountId", "deleted", "unconfirmed", "outcome"];
      },
    ],
    [
      "requires what was there at times",
      (of) => (of.required = ["accountId", "deleted", "unconfirmed", "outcome", "userId"]),
    ],
    [
      "says it in other words",
      (_, fields) => (fields.userId = { ...Object(fields.userId), description: "Who." }),
    ],
  ])("that %s is accepted", (_, edit) => {
    const after = data(edit);
    expect(after).not.toEqual(before);
    expect(incompatibilities(before, after)).toEqual([]);
  });
});
