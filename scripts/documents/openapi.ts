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
    "Exactly this version: that of `data.document.version`. Absent: the newest.",
  ),
  parameter("asOf", "query", timestamp, "What was known at this time. Not beside `version`."),
  parameter("Accept-Encoding", "header", string, "`gzip` saves the way what is stored compressed."),
  parameter("If-None-Match", "header", string, "The `ETag` of what the caller has."),
];

const dates = ["dateStart", "dateEnd"];
const named = {
  endpoint: text("The provider's endpoint."),
  dateStart: text("The first day."),
  dateEnd: text("The last day."),
};
const reference = {
  href: text("Names exactly this version, for ever."),
  sha256: { ...string, pattern: "^[0-9a-f]{64}$", description: "Of the provider's bytes." },
  size: { type: "integer", minimum: 0, description: "In bytes, uncompressed." },
  contentType: text("What it is: `application/json` for JSON in UTF-8; else as the provider said."),
  version: { ...string, pattern: "^[0-9]+$", description: "The higher number is the newer one." },
  observedAt: { ...timestamp, description: "Since when it is known." },
};
const supersededAt = {
  ...timestamp,
  description: "Since when a newer one is known. Absent of the newest.",
};
const versions = {
  ...list(object({ ...reference, supersededAt }, ["supersededAt"])),
  description: "The newest first.",
};
const versionList = object({ ...named, versions }, dates);

/** Schema of the `data` of messages that confirm a state. */
const reported = (type: "user" | "account" | "company-account") => ({
  subject: text("As messages name it."),
  sequence: {
    ...string,
    pattern: "^[0-9]{20}$",
    description: "As in messages: the higher one is the newer.",
  },
  data: contract[`${type}.confirmed`].data,
});
const documents = {
  ...list(object({ ...named, ...reference }, dates)),
  description: "Absent where the caller may read none.",
};
const stateOf = (type: "user" | "account" | "company-account") =>
  object({ ...reported(type), documents }, ["documents"]);
const accounts = list(object({ ...reported("account"), href: text("Where its state is.") }));

const Problem = object(
  {
    type: text("Which problem it is."),
    status: { type: "integer" },
    title: text("The problem in words."),
    detail: text("What of it is wrong here."),
    field: text("The part of the request that is wrong."),
    newest: text("Where the newest version is."),
  },
  ["detail", "field", "newest"],
);

const problems: Readonly<Record<string, readonly [what: string, ...types: readonly ProblemType[]]>> = {
  "400": ["The request is not understood; `field` names its part.", "bad-request"],
  "403": ["Not for this caller. What IAM refuses has another body.", "forbidden"],
  "404": [
    "Nothing is known by this name, which is also said of who was erased; or this version is not kept, and `newest` is.",
    "not-found",
    "version-not-kept",
  ],
  "405": ["Only GET and HEAD are answered.", "method-not-allowed"],
  "500": ["A fault of the stage: never that there is no data.", "data-missing", "failed"],
  "503": ["Try again after `Retry-After`.", "unavailable"],
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
const tooMany = { description: "Lambda has no room for more at once. Try again later." };

function operation(summary: string, parameters: readonly object[], success: object) {
  return { get: { summary, parameters, responses: { ...success, ...problemAnswers, "429": tooMany } } };
}

function json(schema: object, description: string) {
  return { "200": { description, content: { "application/json": { schema } } } };
}

const headers = {
  ETag: header("Strong, one for each coding."),
  "Last-Modified": header("Since when these data are known."),
  Vary: header("`Accept-Encoding`."),
  "Cache-Control": header("`private, no-cache`: ask before what is kept is used."),
};
const documentSuccess = {
  "200": {
    description: "The data, byte for byte as the provider gave it.",
    headers: {
      ...headers,
      "Repr-Digest": header("SHA-256 of what is sent, as RFC 9530 has it."),
      "Content-Encoding": header("`gzip` where it is sent so."),
    },
    content: { "application/json": { schema: {} } },
  },
  "304": { description: "The caller has it already.", headers },
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
      json(versionList, "Those that are kept."),
    ),
  };
}

const paths = {
  "/v1/users/{id}": operation("A user", [id], json(stateOf("user"), "What is known of the user.")),
  "/v1/users/{id}/accounts": operation(
    "The accounts of a user",
    [id],
    json(object({ accounts }), "What is known of each."),
  ),
  "/v1/accounts/{id}": operation("An account", [id], json(stateOf("account"), "What is known of it.")),
  "/v1/company-accounts/{id}": operation(
    "A company account",
    [id],
    json(stateOf("company-account"), "What is known of it."),
  ),
  ...documentPaths("accounts", "an account", []),
  ...documentPaths("accounts", "an account", [range]),
  ...documentPaths("company-accounts", "a company account", []),
  ...documentPaths("company-accounts", "a company account", [range]),
};

/** The OpenAPI 3.1 document of the subscribers' API. */
export function openApi(): string {
  const description = [
    "What a subscriber reads behind its messages. Sign each request with AWS Signature Version 4, for the service `lambda`;",
    "the caller is one of the subscriber's `principals`, or a role granted to it, and reads what its filter lets through.",
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
