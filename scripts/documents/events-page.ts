import type { ObjectSchema, Schema } from "../../domain/message/json-schema.ts";
import { attributes, contract, messageTypes } from "../../domain/message/message-schemas.ts";
import type { MessageType } from "../../domain/message/message-types.ts";
import { exampleOf } from "./examples.ts";
import { table } from "./markdown.ts";

/** The page for people who write subscribers. */
export function eventsPage(): string {
  return `${[
    opening,
    attributesTable(),
    promises,
    table(
      ["type", "sent when"],
      messageTypes.map((type) => [`[\`${type}\`](#${type})`, contract[type].sentWhen]),
    ),
    changes,
    "## The types",
    ...groups().map(sectionOf),
  ].join("\n\n")}\n`;
}

const opening = `# Messages to subscribers

<!-- Written by \`npm run docs\` from domain/message/message-schemas.ts: change it there. -->

Each subscriber of the settings has a queue. A message is a [CloudEvents 1.0](https://cloudevents.io) event in JSON.
Messages are thin: ids and states, no personal data, unless the settings say that a subscriber gets documents
[in its messages](documents.md). Programs find the same in [asyncapi.json](../reference/asyncapi.json), and
a JSON Schema for each type in [schemas/](../reference/schemas). The [reader](../../packages/subscriber/README.md) for TypeScript
and JavaScript follows the rules below.`;

const promises = `## What to rely on

**At least once.** A message may come again, even days later, under the same \`id\`. Remember an id after you have handled its
message, never before. Forget it after 147 days: for so long a message may come again, after months in the archive of dead
letters (with \`retention.archiveDays\` of 90; otherwise that setting and 57).

**Unordered.** The message with the higher \`sequence\` is the newer one of its \`subject\`, whenever it comes. There are gaps,
because not every change has a message; \`endpoint.updated\` and \`data.updated\` have a time in milliseconds there.
Two messages with the same \`sequence\` show the same state; but of two events of an endpoint that were received in the same
millisecond neither is the newer. \`account.*\`,
\`company-account.*\` and \`user.*\` hold the whole state of their subject, so the newest replaces all older ones.
\`endpoint.updated\` and \`data.updated\` share a subject and say different things: there the newest of each type counts.

**Time** is the time of the event, not of sending. It orders nothing: two messages can have the same, and some providers send
none. Sort by \`sequence\`.

**State.** \`connected\`, \`deleted\` and \`unconfirmed\` are the state after the event, whatever the event itself said. A deletion
is final.

**Erasure.** \`user.erased\`, \`account.erased\` and \`company-account.erased\` ask you to forget too. Their \`sequence\` is higher
than any other of the subject, so a message that is still in your queue is older, whenever it comes. Forget sequences as you
forget ids: if the provider announces the subject again later, they begin again.

**Filters.** A filter in the settings names exact types, or prefixes that end in \`*\`, such as \`account.*\`.

Ids that begin with \`5e57da7a-\` belong to a [smoke test](../operate/smoke.md), not of the provider's users.`;

const changes = `## How this may change

The type is the version ([why](../adr/0034-the-type-is-the-version.md)): a type keeps its promises for good.

These may come without notice:
- new types, with the attributes above: ignore types that you don't know;
- new attributes, and new fields in \`data\`: ignore them too. The schemas therefore allow fields that they do not name. Messages
  of today have none, which a test checks;
- a field in every message of a type that was in some of them.

These never happen within a type: a field disappears, or is missing where it was required; a field changes its meaning or type;
\`outcome\` or another enumeration gets a new value; a text changes its format. Such a change is a new type, for example
\`account.updated.v2\`. Its messages have ids of their own and are sent beside the old ones until no subscriber reads those any
more. \`npm run docs\` refuses to write a schema that breaks this.`;

function attributesTable(): string {
  const rows = Object.entries<Schema>(attributes.properties).map(([name, property]) => [
    `\`${name}\``,
    descriptionOf(property),
  ]);
  return table(
    ["field", "meaning"],
    [...rows, ["`type`", "The kind of event: see below."], ["`data`", "Ids and state, by type: see below."]],
  );
}

/** Types whose data is described by one schema stand together. */
function groups(): readonly (readonly MessageType[])[] {
  const schemas = [...new Set<ObjectSchema>(messageTypes.map((type) => contract[type].data))];
  return schemas.map((data) => messageTypes.filter((type) => contract[type].data === data));
}

function sectionOf(types: readonly MessageType[]): string {
  return types
    .map((type, index) => (index === 0 ? `${headOf(types, type)}\n\n` : "") + exampleText(type))
    .join("\n\n");
}

function headOf(types: readonly MessageType[], first: MessageType): string {
  const { data, time, newestOf } = contract[first];
  const isRequired = (name: string) => data.required.some((field) => field === name);
  const rows = Object.entries<Schema>(data.properties).map(([name, property]) => [
    `\`${name}\``,
    isRequired(name) ? "always" : "",
    descriptionOf(property),
  ]);
  return [
    `### ${types.map((type) => `\`${type}\``).join(", ")}`,
    `\`time\`: ${time} A newer message of the same ${newestOf} replaces it.`,
    table(["in `data`", "there", "meaning"], rows),
    ...("oneOf" in data ? [`One of ${choicesOf(data.oneOf)} is there.`] : []),
  ].join("\n\n");
}

function exampleText(type: MessageType): string {
  return `<a id="${type}"></a>**\`${type}\`**: ${contract[type].sentWhen} Schema: [${type}.json](../reference/schemas/${type}.json).

\`\`\`json
${JSON.stringify(exampleOf(type), undefined, 2)}
\`\`\``;
}

function choicesOf(choices: readonly { readonly required: readonly [string] }[]): string {
  return choices.map(({ required: [name] }) => `\`${name}\``).join(" and ");
}

function descriptionOf(schema: Schema): string {
  return "description" in schema ? schema.description : "";
}
