import type { ObjectSchema, Schema } from "../../domain/message/json-schema.ts";
import { attributes, contract, messageTypes } from "../../domain/message/message-schemas.ts";
import type { MessageType } from "../../domain/message/message-types.ts";

const width = 110;

const origin = "// Written by `npm run docs` from domain/message/message-schemas.ts: change that.";

/** `packages/subscriber/contract.ts`: the messages as plain types. */
export function subscriberContract(): string {
  const dataTypes = dataTypesOf(messageTypes);
  const messages = messageTypes.map(
    (type) =>
      `${comment(contract[type].sentWhen, "  ")}  | MessageWith<"${type}", ${dataNameOf(dataTypes, type)}>`,
  );
  return textOf([
    `${origin}\n`,
    `/** What each message has beside \`type\` and \`data\`: the attributes of CloudEvents 1.0. */
export type Attributes = ${typeOf(attributes, "")};`,
    ...dataTypes.map(({ name, schema }) => `type ${name} = ${typeOf(schema, "")};`),
    "type MessageWith<Type, Data> = Attributes & { readonly type: Type; readonly data: Data };",
    `${comment(aboutMessage, "")}export type Message =\n${messages.join("\n")};`,
    'export type MessageType = Message["type"];',
    `/** A message of one type. */
export type MessageOf<Type extends MessageType> = Extract<Message, { readonly type: Type }>;`,
    'export type DataOf<Type extends MessageType> = MessageOf<Type>["data"];',
  ]);
}

const aboutMessage =
  "A subscriber's message: CloudEvents 1.0 in JSON. It holds ids and states, and no personal data. It comes at least once " +
  "and in any order: `id` is the same each time, and of two messages of a `subject` the higher `sequence` is the newer.";

/** `packages/subscriber/checks.ts`: the schemas that the reader checks messages by, and which messages replace each other. */
export function subscriberChecks(): string {
  const dataTypes = dataTypesOf(messageTypes);
  const entries = messageTypes.map((type) => {
    const data = constantOf(dataNameOf(dataTypes, type));
    return `  "${type}": { newestOf: "${contract[type].newestOf}", data: ${data} },\n`;
  });
  return textOf([
    `${origin}
import type { MessageType } from "./contract.ts";
import type { ObjectSchema } from "./schema.ts";`,
    'const text = { type: "string", minLength: 1 } as const;\nconst flag = { type: "boolean" } as const;',
    ...dataTypes.map(({ name, schema }) => `const ${constantOf(name)} = ${checkOf(schema)};`),
    `export const attributes = ${checkOf(attributes)};`,
    `type Check = {
  /** Which messages replace each other: the newest counts. */
  readonly newestOf: "subject" | "subject and type";
  readonly data: ObjectSchema;
};`,
    `export const checks: Readonly<Record<MessageType, Check>> = {\n${entries.join("")}};`,
  ]);
}

function textOf(declarations: readonly string[]): string {
  return `${declarations.map((each) => each.trim()).join("\n\n")}\n`;
}

type DataType = {
  readonly name: string;
  readonly schema: ObjectSchema;
  readonly types: readonly MessageType[];
};

/** The types whose data is the same share a type: `UserEventData` of `user.created`, `user.updated`, `user.deleted`. */
function dataTypesOf(types: readonly MessageType[]): readonly DataType[] {
  const groups = Map.groupBy(types, (type) => JSON.stringify(contract[type].data));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const [subject = "", what = ""] = first.split(".");
    const name = `${pascal(subject)}${pascal(group.length === 1 ? what : "event")}Data`;
    return [{ name, schema: contract[first].data, types: group }];
  });
}

function dataNameOf(dataTypes: readonly DataType[], type: MessageType): string {
  const dataType = dataTypes.find(({ types }) => types.includes(type));
  if (dataType === undefined) throw new Error(`${type}: has no type for its data`);
  return dataType.name;
}

function pascal(words: string): string {
  return words.replace(/(^|-)([a-z])/g, (_match, _dash, letter: string) => letter.toUpperCase());
}

function constantOf(typeName: string): string {
  return `${typeName.charAt(0).toLowerCase()}${typeName.slice(1)}`;
}

/** The TypeScript type of what a schema allows. */
function typeOf(schema: Schema, indent: string): string {
  switch (schema.type) {
    case "string":
      if (schema.const !== undefined) return JSON.stringify(schema.const);
      return schema.enum?.map((value) => JSON.stringify(value)).join(" | ") ?? "string";
    case "boolean":
      return schema.const === undefined ? "boolean" : "true";
    case "integer":
      return "number";
    case undefined:
      return "unknown";
    case "object":
      return objectTypeOf(schema, indent);
  }
}

function objectTypeOf({ properties, required }: ObjectSchema, indent: string): string {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const described = schema.description === undefined ? "" : comment(schema.description, inner);
    const optional = required.includes(name) ? "" : "?";
    return `${described}${inner}readonly ${name}${optional}: ${typeOf(schema, inner)};\n`;
  });
  return `{\n${fields.join("")}${indent}}`;
}

/** A schema as the reader checks it: without its descriptions. */
function checkOf(schema: Schema, indent = ""): string {
  if (schema.type === "object") return `${objectCheckOf(schema, indent)}${indent === "" ? " as const" : ""}`;
  const { description: _, ...check } = schema;
  const text = JSON.stringify(check);
  if (text === '{"type":"string","minLength":1}') return "text";
  if (text === '{"type":"boolean"}') return "flag";
  return literalOf(check);
}

function objectCheckOf({ properties, required, oneOf }: ObjectSchema, indent: string): string {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${inner}  ${name}: ${checkOf(schema, `${inner}  `)},\n`,
  );
  const choice = oneOf === undefined ? "" : `${inner}oneOf: ${literalOf(oneOf)},\n`;
  return `{
${inner}type: "object",
${inner}properties: {
${fields.join("")}${inner}},
${inner}required: ${literalOf(required)},
${choice}${indent}}`;
}

/** A value as TypeScript writes it: on one line, names without quotes. */
function literalOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literalOf).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, each]) => `${name}: ${literalOf(each)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

/** A text as a comment, in lines of `width`. */
function comment(text: string, indent: string): string {
  const line = `${indent}/** ${text} */\n`;
  if (line.length <= width + 1) return line;
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (indent.length + 3 + last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return [`${indent}/**`, ...lines.map((each) => `${indent} * ${each}`), `${indent} */`, ""].join("\n");
}
