import { dataSet } from "@income-events/sandbox/data/data-sets.ts";
import { endpointNames } from "@income-events/sandbox/endpoint-names.ts";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { describe, expect, expectTypeOf, it } from "vitest";
import { type DocumentOf, endpoints, parseDocument } from "../../../packages/subscriber/document-shapes.ts";
import { ExactNumber, type Json, parseJson } from "../../../packages/subscriber/json.ts";
import { documentSchema } from "../../../scripts/package/schemas.ts";

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
formats.default(ajv);
const source = {
  id: "6f1c2b9e-5a0d-4c3e-8f7a-1b2c3d4e5f60",
  userId: "7f1c2b9e-5a0d-4c3e-8f7a-1b2c3d4e5f60",
  datasource: { name: "Uber" },
  createdAt: new Date("2026-11-01T00:00:00Z"),
  pictureBytes: 10,
};
const documentOf = (endpoint: (typeof endpointNames)[number], change: object = {}): Json => {
  const data = dataSet(endpoint, source, { version: 2, updatedAt: new Date("2026-11-21T12:00:00Z") });
  return parseJson(JSON.stringify({ ...data, next: null, ...change }));
};

describe("the types of documents", () => {
  it("are there for each endpoint that the provider has by default", () => {
    expect([...endpoints].sort()).toEqual([...endpointNames].sort());
  });

  it.each(endpointNames)("fit what the provider answers for %s, as the JSON Schema does", (endpoint) => {
    const document = documentOf(endpoint);
    expect(parseDocument(endpoint, document)).toBe(document);
    const validate = ajv.compile(documentSchema(endpoint));
    expect(validate(document), ajv.errorsText(validate.errors)).toBe(true);
    expect(validate({ ...Object(document), data: [{}] })).toBe(false);
  });

  it("let a program read income by its names, and leave fields that they don't know", () => {
    const document = parseDocument("income", documentOf("income", { later: "kept" }));
    expectTypeOf(document).toEqualTypeOf<DocumentOf<"income">>();
    expectTypeOf(document.data).items.toHaveProperty("net").toEqualTypeOf<string>();
    expectTypeOf<DocumentOf<"trips">["data"]>().items.toHaveProperty("distance_meters");
    expect(document.data[0]?.net).toMatch(/^\d+\.\d\d$/);
    expect(document).toMatchObject({ later: "kept" });
  });

  it("name the field that is another, and quote nothing of it", () => {
    const [first] = Object(documentOf("income")).data;
    const broken = (change: object) => () =>
      parseDocument("income", documentOf("income", { data: [{ ...first, ...change }] }));
    expect(broken({ net: 12.5 })).toThrow(
      /^the document is none of income: data\.0\.net: expected a text like /,
    );
    expect(broken({ paid_at: "secret" })).toThrow("data.0.paid_at: expected a text like");
    expect(() => parseDocument("income", null)).toThrow("expected an object");
    expect(() => parseDocument("income", { data: {} })).toThrow("data: expected a list");
    expect(() => parseDocument("performance", { data: [{ id: "a", rating: "5" }] })).toThrow(
      "data.0.rating: expected a number",
    );
    expect(
      parseDocument("performance", { data: [{ id: "a", rating: new ExactNumber("4.99999999999999999") }] }),
    ).toBeDefined();
  });
});
