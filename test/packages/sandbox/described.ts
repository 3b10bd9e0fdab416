import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

export type Described = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
};

const schemas = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(schemas);

/**
 * Checks an answer against an OpenAPI description: the path is described with this method and status, and the body
 * is as its schema says. What has no description (an unknown path, another method) must be an error of 4xx.
 */
export function checkAnswer(description: unknown, { method, path, status, body }: Described): void {
  const place = `${method} ${path} ${status}`;
  const operation = operationAt(description, method, path);
  if (operation === undefined) {
    if (status < 400 || status > 499) throw new Error(`${place}: this route is not described`);
    return;
  }
  const responses = fieldsOf(operation.responses);
  const response = responses[String(status)] ?? responses[`${String(status).slice(0, 1)}XX`];
  if (response === undefined) throw new Error(`${place}: this status is not described`);
  const schema = fieldsOf(fieldsOf(fieldsOf(fieldsOf(response).content)["application/json"]).schema);
  if (!schemas.validate(schema, body)) throw new Error(`${place}: ${schemas.errorsText()}`);
}

function operationAt(description: unknown, method: string, path: string): Fields | undefined {
  const [bare = ""] = path.split("?", 1);
  const paths = Object.entries(fieldsOf(fieldsOf(description).paths));
  const found = paths
    .filter(([template]) => matches(template, bare))
    // A path with fewer parameters is the more exact one.
    .sort(([one], [other]) => one.split("{").length - other.split("{").length)[0];
  const operation = fieldsOf(found?.[1])[method.toLowerCase()];
  return operation === undefined ? undefined : fieldsOf(operation);
}

function matches(template: string, path: string): boolean {
  const parts = template.split("/");
  const given = path.split("/");
  return (
    parts.length === given.length &&
    parts.every((part, index) => part.startsWith("{") || part === given[index])
  );
}
