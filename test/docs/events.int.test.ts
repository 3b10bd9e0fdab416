import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import specs from "@asyncapi/specs";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Fields, fieldsOf } from "../../domain/core/parse.ts";
import { messageSchema, messageTypes } from "../../domain/message/message-schemas.ts";
import { readMessage } from "../../packages/subscriber/read-message.ts";
import { documents } from "../../scripts/documents/documents.ts";
import { exampleOf, examples } from "../../scripts/documents/examples.ts";
import { incompatibilities } from "../../scripts/documents/incompatibilities.ts";
import { brokenPromises, staleDocuments, writeDocuments } from "../../scripts/documents/write.ts";

const repository = join(import.meta.dirname, "..", "..");
const textOf = (file: string) => readFileSync(join(repository, file), "utf8");
const schemaOf = (type: string): Fields => JSON.parse(textOf(`docs/reference/schemas/${type}.json`));

describe("the documents that the code writes", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "income-events-docs-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it("are in the repository as the code says; else: npm run docs", () => {
    expect(staleDocuments(repository)).toEqual([]);
  });

  it("are reported where they are stale, and written then and no more", () => {
    expect(writeDocuments(directory)).toEqual(documents.map(({ file }) => file));
    expect(writeDocuments(directory)).toEqual([]);
    writeFileSync(join(directory, "docs/guide/events.md"), "by hand");
    expect(staleDocuments(directory)).toEqual(["docs/guide/events.md"]);
    expect(writeDocuments(directory)).toEqual(["docs/guide/events.md"]);
    expect(readFileSync(join(directory, "docs/guide/events.md"), "utf8")).toBe(
      textOf("docs/guide/events.md"),
    );
  });

  it("are refused where they would break what subscribers rely on", () => {
    writeDocuments(directory);
    expect(brokenPromises(directory)).toEqual([]);
    const promised = { ...schemaOf("data.updated"), required: ["specversion", "sent"] };
    writeFileSync(join(directory, "docs/reference/schemas/data.updated.json"), JSON.stringify(promised));
    writeFileSync(join(directory, "docs/reference/schemas/data.deleted.json"), JSON.stringify(promised));
    expect(brokenPromises(directory)).toEqual([
      "data.deleted: is gone",
      "data.updated: sent: is required no more",
    ]);
  });
});

describe("the schemas in docs/reference/schemas", () => {
  const ajv = new Ajv2020({ strict: true, strictRequired: false });
  formats.default(ajv);

  it("are one for each type, in draft 2020-12, and none breaks what it promised", () => {
    for (const type of messageTypes) expect(ajv.validateSchema(schemaOf(type)), type).toBe(true);
    expect(brokenPromises(repository)).toEqual([]);
  });

  it.each(messageTypes)("take the example of %s, which the page shows", (type) => {
    const validate = ajv.compile(schemaOf(type));
    const example = exampleOf(type);
    expect(validate(example), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...example, more: 1, data: { ...example.data, more: 1 } })).toBe(true);
    expect(validate({ ...example, type: "other" })).toBe(false);
    expect(textOf("docs/guide/events.md")).toContain(JSON.stringify(example, undefined, 2));
    expect(readMessage(JSON.stringify(example))).toEqual({ as: "message", message: example });
  });

  it("have no example twice under one id", () => {
    expect(new Set(examples.map(({ id }) => id)).size).toBe(examples.length);
  });
});

describe("the AsyncAPI document", () => {
  const document: Fields = JSON.parse(textOf("docs/reference/asyncapi.json"));

  it("is one of AsyncAPI 3", () => {
    const ajv = new Ajv({ strict: false, allErrors: true, logger: false });
    formats.default(ajv);
    const specification: Fields = JSON.parse(JSON.stringify(specs.schemasWithoutId["3.0.0"]));
    const validate = ajv.compile(specification);
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
    expect(validate({ ...document, channels: { subscriber: { address: 1 } } })).toBe(false);
  });

  it("has all types on the subscriber's channel, and no reference that leads nowhere", () => {
    const channels = fieldsOf(document.channels, "channels");
    const { messages } = fieldsOf(channels.subscriber, "subscriber");
    expect(Object.keys(fieldsOf(messages, "messages"))).toEqual([...messageTypes]);
    const references = [...textOf("docs/reference/asyncapi.json").matchAll(/"\$ref": "#\/([^"]+)"/g)];
    expect(references.length).toBe(messageTypes.length + 1);
    for (const [, path = ""] of references) {
      const end = path.split("/").reduce<unknown>((at, step) => fieldsOf(at, path)[step], document);
      expect(fieldsOf(end, path)).toBeDefined();
    }
  });
});

describe("a change of a schema", () => {
  const before: Fields = JSON.parse(JSON.stringify(messageSchema("account.updated")));
  const data = (edit: (data: Record<string, unknown>, fields: Record<string, unknown>) => void): Fields => {
    const copy = structuredClone(before);
    const root: Record<string, unknown> = fieldsOf(copy.properties, "properties");
    const of: Record<string, unknown> = fieldsOf(root.data, "data");
    edit(of, fieldsOf(of.properties, "properties"));
    return copy;
  };

  const breaking = [
    ["removes a field", data((_, fields) => delete fields.userId), "data.userId: is gone"],
    ["removes data", { ...before, properties: {} }, "data: is gone"],
    [
      "requires a field no more",
      data((of) => (of.required = ["accountId"])),
      "data.outcome: is required no more",
    ],
    [
      "changes a type",
      data((_, fields) => (fields.deleted = { type: "string" })),
      "data.deleted: has another type",
    ],
    [
      "narrows a type",
      data((_, fields) => (fields.userId = { type: "string", minLength: 1, pattern: "^a" })),
      "data.userId: has another pattern",
    ],
    [
      "adds a listed value",
      data(
        (_, fields) =>
          (fields.outcome = { type: "string", enum: ["applied", "agreed", "stale", "unconfirmed", "late"] }),
      ),
      "data.outcome: has another enum",
    ],
    [
      "removes a listed value",
      data((_, fields) => (fields.outcome = { type: "string", enum: ["applied"] })),
      "data.outcome: has another enum",
    ],
    [
      "says which of several fields is there",
      data((of) => (of.oneOf = [{ required: ["userId"] }])),
      "data: has another oneOf",
    ],
    [
      "refuses what it does not name",
      data((of) => (of.additionalProperties = false)),
      "data: has another additionalProperties",
    ],
  ] as const;

  it.each(breaking)("that %s is refused", (_, after, problem) => {
    expect(incompatibilities(before, after)).toContain(problem);
  });

  const harmless = [
    ["adds a field", data((_, fields) => (fields.more = { type: "string" }))],
    [
      "adds a required field",
      data((of, fields) => {
        fields.more = { type: "string" };
        of.required = ["more", "accountId", "deleted", "unconfirmed", "outcome"];
      }),
    ],
    [
      "requires what was there at times",
      data((of) => (of.required = ["accountId", "deleted", "unconfirmed", "outcome", "userId"])),
    ],
    [
      "says it in other words",
      data((_, fields) => (fields.userId = { type: "string", minLength: 1, description: "Who." })),
    ],
  ] as const;

  it.each(harmless)("that %s is taken", (_, after) => {
    expect(after).not.toEqual(before);
    expect(incompatibilities(before, after)).toEqual([]);
  });
});
