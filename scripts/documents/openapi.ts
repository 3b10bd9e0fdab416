import { contract } from "../../domain/message/message-schemas.ts";
import { type ProblemType, problem } from "../../domain/read/problem.ts";

const string = { type: "string" } as const;
const timestamp = { type: "string", format: "date-time" } as const;
const text = (description: string) => ({ ...string, description });
const list = (items: object) => ({ type: "array", items });
const object = (properties: object, optional: readonly string[] = []) => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});
const parameter = (name: string, where: string, schema: object, description: string) => {
  return { name, in: where, required: where === "path", schema, description };
};
const header = (description: string) => ({ schema: string, description });

const id = parameter("id", "path", { ...string, maxLength: 1_024 }, "As in a message's `subject`.");
const endpoint = parameter(
  "endpoint",
  "path",
  { ...string, pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$" },
  "The provider's endpoint, such as `income`.",
);
const range = parameter(
  "range",
  "path",
  string,
  "The first and the last day, as in a message's `subject`: `2026-01-01..2026-01-31`.",
);
const ofVersion = [
  parameter(
    "version",
    "query",
    { ...string, pattern: "^[0-9]{1,15}$" },
    "Version to return, as in `data.document.version`; default: the newest.",
  ),
  parameter("asOf", "query", timestamp, "Returns the version at this time. Excludes `version`."),
  parameter("Accept-Encoding", "header", string, "`gzip` returns the stored compressed bytes."),
  parameter("If-None-Match", "header", string, "`ETag` of the caller's copy."),
];

const dates = ["dateStart", "dateEnd"];
const named = {
  endpoint: text("The provider's endpoint."),
  dateStart: text("The first day."),
  dateEnd: text("The last day."),
};
const reference = {
  href: text("Permanent address of this version."),
  sha256: {
    ...string,
    pattern: "^[0-9a-f]{64}$",
    description: "Digest of the provider's bytes, in lower-case hex.",
  },
  size: { type: "integer", minimum: 0, description: "Number of bytes, uncompressed." },
  contentType: text("Content type: `application/json` for JSON in UTF-8; else the provider's."),
  version: { ...string, pattern: "^[0-9]+$", description: "A higher number is newer." },
  observedAt: { ...timestamp, description: "Time at which the provider returned it." },
};
const supersededAt = {
  ...timestamp,
  description: "Time at which a newer version replaced it. Absent for the newest.",
};
const versions = {
  ...list(object({ ...reference, supersededAt }, ["supersededAt"])),
  description: "Newest first.",
};
const versionList = object({ ...named, versions }, dates);

/** Schema of the `data` of messages that confirm a state. */
const reported = (type: "user" | "account" | "company-account") => ({
  subject: text("Subject, as in messages."),
  sequence: {
    ...string,
    pattern: "^[0-9]{20}$",
    description: "A higher sequence is newer, as in messages.",
  },
  data: contract[`${type}.confirmed`].data,
});
const documents = {
  ...list(object({ ...named, ...reference }, dates)),
  description: "Absent if the caller may not read documents.",
};
const stateOf = (type: "user" | "account" | "company-account") =>
  object({ ...reported(type), documents }, ["documents"]);
const accounts = list(object({ ...reported("account"), href: text("Address of its state.") }));

const Problem = object(
  {
    type: text("Type of the problem."),
    status: { type: "integer" },
    title: text("Description of the problem."),
    detail: text("Details of this occurrence."),
    field: text("Invalid part of the request."),
    newest: text("Address of the newest version."),
  },
  ["detail", "field", "newest"],
);

const problems: Readonly<Record<string, readonly [what: string, ...types: readonly ProblemType[]]>> = {
  "400": ["Invalid request; `field` names the part.", "bad-request"],
  "403": ["The caller may not read this. Requests that IAM denies have another body.", "forbidden"],
  "404": [
    "Not found, or erased; or this version is no longer retained, and `newest` names the current one.",
    "not-found",
    "version-not-kept",
  ],
  "405": ["Only GET and HEAD are supported.", "method-not-allowed"],
  "500": ["An error of the stage; it never means that there is no data.", "data-missing", "failed"],
  "503": ["Retry after `Retry-After` seconds.", "unavailable"],
};
const problemAnswers = Object.fromEntries(
  Object.entries(problems).map(([status, [description, ...types]]) => {
    const headers = status === "503" && { headers: { "Retry-After": { schema: string } } };
    const examples = Object.fromEntries(types.map((type) => [type, { value: problem(type) }]));
    const schema = { $ref: "#/components/schemas/Problem" };
    return [
      status,
      { description, ...headers, content: { "application/problem+json": { schema, examples } } },
    ];
  }),
);
const tooMany = { description: "Lambda's concurrency is used up. Retry later." };

function operation(summary: string, parameters: readonly object[], success: object) {
  return { get: { summary, parameters, responses: { ...success, ...problemAnswers, "429": tooMany } } };
}

function json(schema: object, description: string) {
  return { "200": { description, content: { "application/json": { schema } } } };
}

const headers = {
  ETag: header("A strong tag, different for each coding."),
  "Last-Modified": header("Time at which the provider returned this data."),
  Vary: header("`Accept-Encoding`."),
  "Cache-Control": header("`private, no-cache`: revalidate before you use a cached copy."),
};
const documentSuccess = {
  "200": {
    description: "The provider's data, byte for byte.",
    headers: {
      ...headers,
      "Repr-Digest": header("SHA-256 of the body as sent (RFC 9530)."),
      "Content-Encoding": header("`gzip` if the body is compressed."),
    },
    content: { "application/json": { schema: {} } },
  },
  "304": { description: "The caller's copy is current.", headers },
};

/** Paths of a document and its versions, with and without a date range. */
function documentPaths(collection: string, of: string, more: readonly object[]) {
  const path = `/v1/${collection}/{id}/documents/{endpoint}${more.length > 0 ? "/{range}" : ""}`;
  const what = more.length > 0 ? `${of}, of a range of dates` : of;
  const parameters = [id, endpoint, ...more];
  return {
    [path]: operation(`A document of ${what}`, [...parameters, ...ofVersion], documentSuccess),
    [`${path}/versions`]: operation(
      `The versions of a document of ${what}`,
      parameters,
      json(versionList, "The retained versions."),
    ),
  };
}

const paths = {
  "/v1/users/{id}": operation("A user", [id], json(stateOf("user"), "State of the user.")),
  "/v1/users/{id}/accounts": operation(
    "The accounts of a user",
    [id],
    json(object({ accounts }), "State of each account."),
  ),
  "/v1/accounts/{id}": operation("An account", [id], json(stateOf("account"), "State of the account.")),
  "/v1/company-accounts/{id}": operation(
    "A company account",
    [id],
    json(stateOf("company-account"), "State of the account."),
  ),
  ...documentPaths("accounts", "an account", []),
  ...documentPaths("accounts", "an account", [range]),
  ...documentPaths("company-accounts", "a company account", []),
  ...documentPaths("company-accounts", "a company account", [range]),
};

/** The OpenAPI 3.1 document of the subscribers' API. */
export function openApi(): string {
  const description = [
    "The states and documents that messages announce. Sign each request with AWS Signature Version 4 for the service `lambda`;",
    "the caller is one of the subscriber's `principals` or a granted role, and can read what the subscriber's filter accepts.",
  ].join(" ");
  const license = { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" };
  const sigV4 = {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: "AWS Signature Version 4, service `lambda`.",
  };
  const documentsUrl = { default: "https://url-id.lambda-url.region.on.aws" };
  const api = {
    openapi: "3.1.0",
    info: { title: "income-events: documents", version: "1.0.0", description, license },
    servers: [{ url: "{documentsUrl}", variables: { documentsUrl } }],
    security: [{ sigV4: [] }],
    paths,
    components: { securitySchemes: { sigV4 }, schemas: { Problem } },
  };
  return `${JSON.stringify(api, undefined, 2)}\n`;
}
