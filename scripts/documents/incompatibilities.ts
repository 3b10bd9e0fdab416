import { isDeepStrictEqual } from "node:util";
import { type Fields, isFields } from "../../domain/core/parse.ts";

/** What says nothing of what is allowed. */
const remarks: ReadonlySet<string> = new Set(["$schema", "$id", "title", "description"]);

/**
 * What a reader who relies on a schema of before would miss or misread under the one of after: see "How this may
 * change" in docs/guide/events.md. Fields may come, and what was there at times may be there always; nothing else.
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
