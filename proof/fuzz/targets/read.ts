import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { contentOf, type StoredDocument } from "../../../adapters/dynamodb/documents.ts";
import type { SubjectReads } from "../../../adapters/dynamodb/subject-reads.ts";
import { parseJson } from "../../../domain/core/parse.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { documentAfter } from "../../../domain/fetch/document.ts";
import { documentTask } from "../../../domain/fetch/task.ts";
import { readHttpRequest } from "../../../functions/read/http-request.ts";
import { type HttpRequest, reader } from "../../../functions/read/reader.ts";
import { must, type Target } from "../target.ts";
import { failsAsSaid } from "./failing.ts";
import { choosing, chosenBy, splitAtEmptyLine } from "./split.ts";

const secret = "4321.09";
const text = `{"amount":${secret}}`;
const account: Subject = { kind: "account", id: "a" };
const stored = storedDocument();
const reads: SubjectReads = {
  state: async () => undefined,
  document: async ({ id }, { endpoint }) => (id === "a" && endpoint === "income" ? stored : undefined),
  documents: async () => [stored],
  accounts: async () => [],
};
const subscribers = [
  { name: "everything", principals: ["222222222222"] },
  { name: "accounts", principals: ["333333333333"], types: ["account.*"] },
];
const statuses = [200, 304, 400, 403, 404, 405];
const callers = ["222222222222", "333333333333", "444444444444"] as const;

/** A byte chooses who asks. A head in front of an empty line is the request's lines; without one all of it is the event. */
async function check(input: Uint8Array): Promise<void> {
  const [accountId, bytes] = chosenBy(callers, input);
  const { head, rest } = splitAtEmptyLine(bytes);
  const given = Buffer.from(rest).toString("utf8");
  const request =
    head === ""
      ? failsAsSaid(() => readHttpRequest(parseJson(given, "event"), "arn:a:l:r:1:f:g"))
      : ofLines(head, given);
  if (request === undefined) return;
  const caller = { accountId, userArn: `arn:aws:iam::${accountId}:user/u` };
  const answer = await reader({
    reads,
    versions: {
      exactly: async () => undefined,
      before: async () => undefined,
      at: async () => undefined,
      all: async () => [],
    },
    open: async () => undefined,
    subscribers,
    log: (code) => must(code !== "READ_FAILED", "a read failed where nothing can"),
  })({ ...request, caller });
  must(statuses.includes(answer.status), `an answer has the status ${answer.status}`);
  for (const [name, value] of Object.entries(answer.headers))
    must(/^[\t\x20-\x7e]*$/.test(value), `the header ${name} has characters that none may have`);
  const body = answer.body instanceof Readable ? await buffer(answer.body) : Buffer.from(answer.body ?? "");
  const isRead = answer.status === 200 && answer.headers.etag !== undefined;
  must(!isRead || accountId === "222222222222", "a document went to whom the filter keeps it from");
  must(isRead || !body.includes(secret), "an answer that is no document quotes one");
  if (isRead && request.method === "GET" && answer.headers["content-encoding"] === undefined)
    must(body.toString() === text, "a document was changed");
}

/** The method, the path and the query, a header a line; the body is none. */
function ofLines(head: string, host: string): HttpRequest {
  const [method = "", path = "", query = "", ...lines] = head.split("\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1)]),
  );
  const documentsUrl = `https://${encodeURIComponent(host)}/`;
  return {
    ...{ method, path, query, headers, documentsUrl },
    caller: { accountId: "", userArn: "" },
    ownAccount: "111111111111",
  };
}

function storedDocument(): StoredDocument {
  const { digest } = contentOf(text);
  const call = {
    asOf: 1_790_000_000_000,
    by: [],
    task: documentTask(account, { endpoint: "income" }, 1, { cause: "c" }),
  };
  return {
    document: documentAfter(undefined, call, { digest, size: text.length }),
    place: { codec: "gzip", content: gzipSync(text) },
  };
}

export const target: Target = {
  promise: "a request is answered as the API says, and nobody gets a document whom the filter keeps from it",
  seeds: [
    choosing(
      0,
      "GET\n/v1/accounts/a/documents/income\nversion=1790000000000\naccept-encoding:gzip;q=0.5, *\n\nhost",
    ),
    choosing(
      0,
      'HEAD\n/v1/accounts/a/documents/income\nasOf=2026-10-01T00:00:00Z\nif-none-match:W/"a", *\n\nhost',
    ),
    choosing(1, "GET\n/v1/accounts/a\n\n\nhost"),
    choosing(2, "GET\n/v1/company-accounts/%2e%2E/documents/income/2026-01-01..2026-01-31\nversion=1\n\n"),
    choosing(
      0,
      '{"rawPath":"/v1/users/a/accounts","rawQueryString":"","headers":{"host":"h"},"requestContext":{"domainName":"h","http":{"method":"GET"},"authorizer":{"iam":{"accountId":"2","userArn":"arn:aws:iam::2:user/u"}}}}',
    ),
  ],
  words: [
    "/v1/accounts/a/documents/income",
    "version=",
    "asOf=",
    "%2F",
    "%00",
    "..",
    "if-none-match:",
    "gzip;q=",
    "GET\n",
  ],
  check,
};
