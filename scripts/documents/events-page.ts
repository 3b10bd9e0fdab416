import type { MessageType } from "../../domain/event/events.ts";
import { attributes, type ObjectSchema, type Schema } from "../../domain/message/json-schema.ts";
import { contract, messageTypes } from "../../domain/message/message-schemas.ts";
import { exampleOf } from "./examples.ts";
import { table } from "./markdown.ts";

export function attributesTable(): string {
  const rows = Object.entries<Schema>(attributes.properties).map(([name, property]) => [
    `\`${name}\``,
    property.description ?? "",
  ]);
  return table(
    ["field", "meaning"],
    [...rows, ["`type`", "The kind of event: see below."], ["`data`", "Ids and state, by type: see below."]],
  );
}

export function typesTable(): string {
  return table(
    ["type", "sent when"],
    messageTypes.map((type) => [`[\`${type}\`](#${type})`, contract[type].sentWhen]),
  );
}

/** Sections by schema: types that share a schema share a section. */
export function sections(): string {
  return [...Map.groupBy(messageTypes, (type): ObjectSchema => contract[type].data).values()]
    .map(sectionOf)
    .join("\n\n");
}

function sectionOf(types: readonly MessageType[]): string {
  const [first] = types;
  if (first === undefined) return "";
  const { data, time, newestOf } = contract[first];
  const isRequired = (name: string) => data.required.some((field) => field === name);
  const rows = Object.entries<Schema>(data.properties).map(([name, property]) => [
    `\`${name}\``,
    isRequired(name) ? "always" : "",
    property.description ?? "",
  ]);
  return [
    `### ${types.map((type) => `<a id="${type}"></a>\`${type}\``).join(", ")}`,
    `\`time\`: ${time} A newer message of the same ${newestOf} replaces it.`,
    table(["in `data`", "present", "meaning"], rows),
    ...("oneOf" in data ? [`Exactly one of ${choicesOf(data.oneOf)} is present.`] : []),
    `\`\`\`json\n${JSON.stringify(exampleOf(first), undefined, 2)}\n\`\`\``,
  ].join("\n\n");
}

function choicesOf(choices: readonly { readonly required: readonly [string] }[]): string {
  return choices.map(({ required: [name] }) => `\`${name}\``).join(" and ");
}
