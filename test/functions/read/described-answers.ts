import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Answer } from "../../../functions/read/answer.ts";
import { openApi } from "../../../scripts/documents/openapi.ts";

type Described = {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
};

const api: {
  readonly paths: Readonly<
    Record<string, { readonly get: { readonly responses: Readonly<Record<string, Described>> } }>
  >;
  readonly components: object;
} = JSON.parse(openApi());
const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

/**
 * Parts of an answer that the OpenAPI document does not allow; an undocumented path may only be answered with
 * a problem.
 */
export function problemsOfAnswer(
  path: string,
  method: string,
  answer: Answer,
  bytes: Buffer,
): readonly string[] {
  const template = Object.keys(api.paths).find((each) => patternOf(each).test(path)) ?? "/v1/users/{id}";
  const described = api.paths[template]?.get.responses[String(answer.status)];
  if (described === undefined) return [`${template}: ${answer.status} is not described`];
  const missing = Object.keys(described.headers ?? {}).filter(
    (name) => name !== "Content-Encoding" && answer.headers[name.toLowerCase()] === undefined,
  );
  const type = answer.headers["content-type"] ?? "";
  const schema = described.content?.[type]?.schema;
  if (schema === undefined && described.content !== undefined) return [`${type} is not described`];
  const isPlain = method !== "HEAD" && answer.headers["content-encoding"] === undefined;
  const validate = ajv.compile({ ...schema, components: api.components });
  const isValid = schema === undefined || !isPlain || validate(JSON.parse(bytes.toString()));
  return [
    ...missing.map((name) => `${name} is missing`),
    ...(isValid ? [] : [ajv.errorsText(validate.errors)]),
  ];
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}
