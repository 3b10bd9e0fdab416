import type { Schema } from "../../domain/message/json-schema.ts";
import { contract } from "../../domain/message/message-schemas.ts";
import { type ProblemType, problem } from "../../domain/read/problem.ts";

const text = (description: string) => ({ type: "string", description }) as const;
const parameter = (name: string, where: string, schema: object, description: string) => ({
  name,
  in: where,
  required: where === "path",
  schema,
  description,
});

const id = parameter("id", "path", { type: "string", maxLength: 1_024 }, "As in a message's `subject`.");
const endpoint = parameter(
  "endpoint",
  "path",
  { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$" },
  "The provider's endpoint, such as `income`.",
);
const range = parameter(
  "range",
  "path",
  { type: "string" },
  "The first and the last day, as in a message's `subject`: `2026-01-01..2026-01-31`.",
);
const versions = [
  parameter(
    "version",
    "query",
    { type: "string", pattern: "^[0-9]{1,15}$" },
    "Exactly this version: that of `data.document.version`. Absent: the newest.",
  ),
  parameter(
    "asOf",
    "query",
    { type: "string", format: "date-time" },
    "What was known at this time. Not beside `version`.",
  ),
];
const conditions = [
  parameter(
    "Accept-Encoding",
    "header",
    { type: "string" },
    "`gzip` saves the way what is stored compressed.",
  ),
  parameter("If-None-Match", "header", { type: "string" }, "The `ETag` of what the caller has."),
];

const reference = {
  href: text("Names exactly this version, for ever."),
  sha256: { type: "string", pattern: "^[0-9a-f]{64}$", description: "Of the provider's bytes." },
  size: { type: "integer", minimum: 0, description: "In bytes, uncompressed." },
  contentType: { type: "string", const: "application/json", description: "What it is." },
  version: { type: "string", pattern: "^[0-9]+$", description: "The higher number is the newer one." },
  observedAt: { type: "string", format: "date-time", description: "Since when it is known." },
} as const;

const listed = {
  type: "object",
  properties: {
    endpoint: text("The provider's endpoint."),
    dateStart: text("The first day."),
    dateEnd: text("The last day."),
    ...reference,
  },
  required: ["endpoint", ...Object.keys(reference)],
};

/** What messages that confirm a state have as their `data`. */
const dataOf = (type: "user" | "account" | "company-account"): Schema => contract[`${type}.confirmed`].data;

const reported = (data: object) => ({
  subject: text("As messages name it."),
  sequence: {
    type: "string",
    pattern: "^[0-9]{20}$",
    description: "As in messages: the higher one is the newer.",
  },
  data,
});

function stateOf(type: "user" | "account" | "company-account") {
  const documents = { type: "array", items: listed, description: "Absent where the caller may read none." };
  return {
    type: "object",
    properties: { ...reported(dataOf(type)), documents },
    required: ["subject", "sequence", "data"],
  };
}

const accountList = {
  type: "object",
  properties: {
    accounts: {
      type: "array",
      items: {
        type: "object",
        properties: { ...reported(dataOf("account")), href: text("Where its state is.") },
        required: ["subject", "sequence", "data", "href"],
      },
    },
  },
  required: ["accounts"],
};

const problemSchema = {
  type: "object",
  properties: {
    type: text("Which problem it is."),
    status: { type: "integer" },
    title: text("The problem in words."),
    detail: text("What of it is wrong here."),
    field: text("The part of the request that is wrong."),
    newest: text("Where the newest version is."),
  },
  required: ["type", "status", "title"],
};

const problems: Readonly<Record<string, readonly [types: readonly ProblemType[], what: string]>> = {
  "400": [["bad-request"], "The request is not understood; `field` names its part."],
  "403": [["forbidden"], "Not for this caller. What IAM refuses has another body."],
  "404": [
    ["not-found", "version-not-kept"],
    "Nothing is known by this name, which is also said of who was erased; or this version is not kept, and `newest` is.",
  ],
  "405": [["method-not-allowed"], "Only GET and HEAD are answered."],
  "500": [["data-missing", "failed"], "A fault of the stage: never that there is no data."],
  "503": [["unavailable"], "Try again after `Retry-After`."],
};

const problemAnswers = Object.fromEntries(
  Object.entries(problems).map(([status, [types, description]]) => [
    status,
    {
      description,
      ...(status === "503" && { headers: { "Retry-After": { schema: { type: "string" } } } }),
      content: {
        "application/problem+json": {
          schema: { $ref: "#/components/schemas/Problem" },
          examples: Object.fromEntries(types.map((type) => [type, { value: problem(type) }])),
        },
      },
    },
  ]),
);

const header = (description: string) => ({ schema: { type: "string" }, description });
const documentHeaders = {
  ETag: header("Strong, one for each coding."),
  "Last-Modified": header("Since when these data are known."),
  Vary: header("`Accept-Encoding`."),
  "Cache-Control": header("`private, no-cache`: ask before what is kept is used."),
};

function operation(summary: string, parameters: readonly object[], success: object) {
  const tooMany = { description: "Lambda has no room for more at once. Try again later." };
  return { get: { summary, parameters, responses: { ...success, ...problemAnswers, "429": tooMany } } };
}

function json(schema: object, description: string) {
  return { "200": { description, content: { "application/json": { schema } } } };
}

const documentSuccess = {
  "200": {
    description: "The data, byte for byte as the provider gave it.",
    headers: {
      ...documentHeaders,
      "Repr-Digest": header("SHA-256 of what is sent, as RFC 9530 has it."),
      "Content-Encoding": header("`gzip` where it is sent so."),
    },
    content: { "application/json": { schema: {} } },
  },
  "304": { description: "The caller has it already.", headers: documentHeaders },
};

const versionList = {
  type: "object",
  properties: {
    endpoint: text("The provider's endpoint."),
    dateStart: text("The first day."),
    dateEnd: text("The last day."),
    versions: {
      type: "array",
      description: "The newest first.",
      items: {
        type: "object",
        properties: {
          ...reference,
          supersededAt: {
            type: "string",
            format: "date-time",
            description: "Since when a newer one is known. Absent of the newest.",
          },
        },
        required: Object.keys(reference),
      },
    },
  },
  required: ["endpoint", "versions"],
};

const versionsOf = (of: string, more: readonly object[]) =>
  operation(
    `The versions of a document of ${of}`,
    [id, endpoint, ...more],
    json(versionList, "Those that are kept."),
  );

const document = (of: string, more: readonly object[]) =>
  operation(`A document of ${of}`, [id, endpoint, ...more, ...versions, ...conditions], documentSuccess);

/** The OpenAPI 3.1 document of what subscribers read. */
export function openApi(): string {
  const ofAccount = [
    ["accounts", "an account"],
    ["company-accounts", "a company account"],
  ] as const;
  const paths = {
    "/v1/users/{id}": operation("A user", [id], json(stateOf("user"), "What is known of the user.")),
    "/v1/users/{id}/accounts": operation(
      "The accounts of a user",
      [id],
      json(accountList, "What is known of each."),
    ),
    "/v1/accounts/{id}": operation("An account", [id], json(stateOf("account"), "What is known of it.")),
    "/v1/company-accounts/{id}": operation(
      "A company account",
      [id],
      json(stateOf("company-account"), "What is known of it."),
    ),
    ...Object.fromEntries(
      ofAccount.flatMap(([collection, what]) => [
        [`/v1/${collection}/{id}/documents/{endpoint}`, document(what, [])],
        [`/v1/${collection}/{id}/documents/{endpoint}/versions`, versionsOf(what, [])],
        [
          `/v1/${collection}/{id}/documents/{endpoint}/{range}/versions`,
          versionsOf(`${what}, of a range of dates`, [range]),
        ],
        [
          `/v1/${collection}/{id}/documents/{endpoint}/{range}`,
          document(`${what}, of a range of dates`, [range]),
        ],
      ]),
    ),
  };
  const description = [
    "What a subscriber reads behind its messages. Sign each request with AWS Signature Version 4, for the service `lambda`;",
    "the caller is one of the subscriber's `principals`, and reads what the subscriber's filter lets through.",
  ].join(" ");
  const info = {
    title: "income-events: documents",
    version: "1.0.0",
    description,
    license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
  };
  const sigV4 = {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: "AWS Signature Version 4, service `lambda`.",
  };
  const api = {
    openapi: "3.1.0",
    info,
    servers: [
      {
        url: "{documentsUrl}",
        variables: { documentsUrl: { default: "https://url-id.lambda-url.region.on.aws" } },
      },
    ],
    security: [{ sigV4: [] }],
    paths,
    components: { securitySchemes: { sigV4 }, schemas: { Problem: problemSchema } },
  };
  return `${JSON.stringify(api, undefined, 2)}\n`;
}
