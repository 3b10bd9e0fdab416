import { isDeepStrictEqual } from "node:util";
import { type Fields, fieldsOf, isFields } from "../../domain/core/parse.ts";
import { messageSchema, messageTypes } from "../../domain/message/message-schemas.ts";
import { exampleOf } from "./examples.ts";

/** The AsyncAPI 3 document of a subscriber's queue. */
export function asyncApi(): string {
  const document = {
    asyncapi: "3.0.0",
    info: {
      title: "income-events",
      version: "1.0.0",
      description:
        "Messages on a subscriber's SQS queue: CloudEvents 1.0 in JSON, delivered at least once and in any order. " +
        "See events.md for the rules, including how messages may change.",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    defaultContentType: "application/json",
    channels: {
      subscriber: {
        address: "{queueUrl}",
        description: "The queue of one subscriber. Its filter in the stage's settings selects the types.",
        parameters: { queueUrl: { description: "In the deployment's outputs, for each subscriber." } },
        messages: Object.fromEntries(
          messageTypes.map((type) => [type, { $ref: `#/components/messages/${type}` }]),
        ),
      },
    },
    operations: {
      publish: {
        action: "send",
        channel: { $ref: "#/channels/subscriber" },
        summary: "The pipeline sends an event to a subscriber.",
      },
    },
    components: { messages: Object.fromEntries(messageTypes.map((type) => [type, messageOf(type)])) },
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function messageOf(type: (typeof messageTypes)[number]) {
  const { title, description, ...payload } = messageSchema(type);
  return {
    name: type,
    title,
    summary: description,
    contentType: "application/json",
    payload,
    examples: [{ payload: exampleOf(type) }],
  };
}

/** Breaking differences between the code's messages and an AsyncAPI document that subscribers rely on. */
export function breaksOf(promised: unknown, code: Fields = JSON.parse(asyncApi())): readonly string[] {
  const now = messagesOf(code);
  return Object.entries(messagesOf(promised)).flatMap(([type, message]) => {
    if (now[type] === undefined) return [`${type}: is gone`];
    const [before, after] = [message, now[type]].map((each) => fieldsOf(fieldsOf(each, type).payload, type));
    return incompatibilities(before ?? {}, after ?? {}).map((problem) => `${type}: ${problem}`);
  });
}

function messagesOf(document: unknown): Fields {
  const { components } = fieldsOf(document, "the AsyncAPI document");
  return fieldsOf(fieldsOf(components, "components").messages, "messages");
}

/** Keywords without effect on validation. */
const remarks: ReadonlySet<string> = new Set(["$schema", "$id", "title", "description"]);

/**
 * Changes that break a reader of the earlier schema; see "How this may change" in docs/guide/events.md. Only
 * new fields and optional fields that become required are compatible.
 */
export function incompatibilities(before: Fields, after: Fields, name = ""): readonly string[] {
  const place = name === "" ? "the message" : name;
  const fieldsBefore = propertiesOf(before);
  const fieldsAfter = propertiesOf(after);
  const kept = Object.keys(fieldsBefore).filter((field) => field in fieldsAfter);
  const gone = Object.keys(fieldsBefore).filter((field) => !(field in fieldsAfter));
  const loosened = requiredOf(before).filter((field) => !requiredOf(after).includes(field));
  const changed = rulesOf(before, after).filter((rule) => !isDeepStrictEqual(before[rule], after[rule]));
  const join = (field: string) => (name === "" ? field : `${name}.${field}`);
  return [
    ...gone.map((field) => `${join(field)}: is gone`),
    ...loosened
      .filter((field) => !gone.includes(field))
      .map((field) => `${join(field)}: is required no more`),
    ...changed.map((rule) => `${place}: has another ${rule}`),
    ...kept.flatMap((field) =>
      incompatibilities(schemaOf(fieldsBefore[field]), schemaOf(fieldsAfter[field]), join(field)),
    ),
    ...(isFields(before.items) && isFields(after.items)
      ? incompatibilities(before.items, after.items, `${name}[]`)
      : []),
  ];
}

function rulesOf(before: Fields, after: Fields): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const isVisited = (name: string) =>
    name === "properties" ||
    name === "required" ||
    (name === "items" && isFields(before.items) && isFields(after.items));
  return [...names].filter((name) => !remarks.has(name) && !isVisited(name));
}

function propertiesOf({ properties }: Fields): Fields {
  return schemaOf(properties);
}

function requiredOf({ required }: Fields): readonly string[] {
  return Array.isArray(required) ? required.map(String) : [];
}

function schemaOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}
