import { Readable } from "node:stream";
import { text as textIn } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { contentOf, type StoredDocument } from "../../../adapters/dynamodb/documents.ts";
import { parseJson } from "../../../domain/core/parse.ts";
import { documentAfter } from "../../../domain/fetch/document.ts";
import { documentTask } from "../../../domain/fetch/task.ts";
import { readHttpRequest } from "../../../functions/read/http-request.ts";
import { type HttpRequest, reader } from "../../../functions/read/reader.ts";
import { CommandError } from "../../../packages/cli/core/command-error.ts";
import { checkAddresses, isOwnAddress, placeOfArn } from "../../../packages/cli/core/own-addresses.ts";
import { createProgram, runProgram } from "../../../packages/cli/program.ts";
import { createJobs } from "../../../packages/console/route.ts";
import { consoleRoutes } from "../../../packages/console/routes.ts";
import { type ConsoleServer, startConsole } from "../../../packages/console/server.ts";
import { consoleContext } from "../../packages/console/console-context.ts";
import { anyCharacter } from "../../support/any-character.ts";
import { enterConsole } from "../../support/console-session.ts";
import { expectCleanPrototypes, failsAsSaid, near } from "./near.ts";

const words = ["__proto__", "constructor", "%2F", "%00", "..", "\u2028", "\u001b[2J", "null", "1e999"];
/** The message for a fault in our own code, not in the request. */
const ownFault =
  /^\s+at .+:\d+:\d+\)?$|^(Type|Reference|Range|Syntax)Error|Cannot read propert|is not a function/m;
afterAll(expectCleanPrototypes);

describe("a request of the read API, whatever it is", () => {
  const secret = "4321.09";
  const content = `{"amount":${secret}}`;
  const account = { kind: "account", id: "a" } as const;
  const task = documentTask(account, { endpoint: "income" }, 1, { cause: "c" });
  const call = { asOf: 1_790_000_000_000, by: [], task };
  const { digest } = contentOf(content);
  const stored: StoredDocument = {
    document: documentAfter(undefined, call, { digest, size: content.length }),
    storage: { codec: "gzip", content: gzipSync(content) },
  };
  const none = async () => undefined;
  const codes: string[] = [];
  const answerTo = reader({
    reads: {
      state: none,
      document: async ({ id }, { endpoint }) => (id === "a" && endpoint === "income" ? stored : undefined),
      documents: async () => [stored],
      accounts: async () => [],
    },
    versions: { exactly: none, before: none, at: none, all: async () => [] },
    bucket: { open: none },
    hasAttributes: false,
    subscribers: [
      { name: "everything", principals: ["222222222222"], granted: [] },
      { name: "accounts", principals: ["333333333333"], granted: [], types: ["account.*"] },
    ],
    log: (code) => codes.push(code),
  });
  const ofHttp = fc.record({
    method: fc.constantFrom("GET", "HEAD", "POST", "get"),
    path: near(["/v1/accounts/a/documents/income", "/v1/users/a/accounts", "/v1/accounts/a"], words),
    query: near(["version=1790000000000", "asOf=2026-10-01T00:00:00Z", ""], ["version=", "asOf=", ...words]),
    headers: fc.dictionary(
      fc.constantFrom("accept-encoding", "if-none-match"),
      near(["gzip;q=0.5, *", 'W/"a", *'], words),
    ),
  });
  const events = near(
    [
      '{"rawPath":"/v1/users/a/accounts","rawQueryString":"","headers":{"host":"h"},"requestContext":{"apiId":"i","domainName":"i.lambda-url.r.on.aws","http":{"method":"GET"},"authorizer":{"iam":{"accountId":"2","userArn":"arn:aws:iam::2:user/u"}}}}',
    ],
    words,
  );
  const requestOf = (given: Partial<HttpRequest>, event: string) =>
    failsAsSaid(() => ({ ...readHttpRequest(parseJson(event, "event"), "arn:a:l:r:1:f:g"), ...given }));

  it.each(["222222222222", "333333333333", "444444444444"])(
    "gets a status and headers of HTTP, and a document only if the filter lets %s have it",
    async (accountId) => {
      const caller = { accountId, userArn: `arn:aws:iam::${accountId}:user/u` };
      await fc.assert(
        fc.asyncProperty(fc.oneof(ofHttp, fc.constant({})), events, async (given, event) => {
          const request = await requestOf(given, event);
          if (request === undefined) return;
          const { status, headers, body = "" } = await answerTo({ ...request, caller });
          expect([200, 304, 400, 403, 404, 405]).toContain(status);
          for (const value of Object.values(headers)) expect(value).toMatch(/^[\t\x20-\x7e]*$/);
          const isPlain = headers["content-encoding"] === undefined;
          const text = body instanceof Readable ? await textIn(body) : String(body);
          const isDocument = status === 200 && headers.etag !== undefined;
          if (isDocument) expect(accountId).toBe("222222222222");
          if (isDocument && isPlain && request.method === "GET") expect(text).toBe(content);
          if (!isDocument) expect(text).not.toContain(secret);
        }),
        { numRuns: 300 },
      );
      expect(codes).not.toContain("READ_FAILED");
    },
  );
});

describe("the console's addresses, whatever they are given", () => {
  let server: ConsoleServer;
  let headers: Readonly<Record<string, string>> = {};
  const routes: { readonly method: string; readonly path: string }[] = [];
  beforeAll(async () => {
    // Nothing listens there: calls to AWS are refused at once.
    vi.stubEnv("AWS_ENDPOINT_URL", "http://127.0.0.1:1");
    vi.stubEnv("AWS_MAX_ATTEMPTS", "1");
    for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]) vi.stubEnv(name, "test");
    const context = consoleContext(false);
    const own = consoleRoutes(context, createJobs(context.now));
    routes.push(...own);
    const files = new Map<string, never>();
    server = await startConsole({ context, files, routes: own, onAdmitted: () => undefined }, 0);
    headers = await enterConsole(server.address());
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    vi.unstubAllEnvs();
  });
  const texts = near(["user/a", "accounts", "2026-11-21T12:00:00Z", "24h", "5"], words);
  const names = fc.constantFrom(..."subject type since until limit id queue name kind body".split(" "));

  it("answer, or refuse in words that are no fault of our own code", async () => {
    const asked = fc.record({
      at: fc.nat(),
      query: fc.dictionary(names, texts),
      body: fc.oneof(
        fc.dictionary(names, fc.oneof(texts, fc.jsonValue())).map((each) => JSON.stringify(each)),
        texts,
      ),
    });
    await fc.assert(
      fc.asyncProperty(asked, async ({ at, query, body }) => {
        const { method, path } = routes[at % routes.length] ?? { method: "GET", path: "/api/none" };
        const origin = `http://127.0.0.1:${server.port}`;
        const init = { method, headers, ...(method === "POST" && { body }) };
        const answer = await fetch(`${origin}${path}?${new URLSearchParams(query)}`, init);
        expect([200, 400, 403, 404, 502], `${method} ${path}`).toContain(answer.status);
        if (answer.status !== 200) expect(JSON.parse(await answer.text()).error).not.toMatch(ownFault);
      }),
      { numRuns: 200 },
    );
  });
});

describe("a command line, whatever its words are", () => {
  const args = fc.array(
    fc.oneof(
      fc.constantFrom(..."events list replay dlq redrive erase user mapping try token".split(" ")),
      fc.constantFrom(..."-- - --help --json --stage --since 24h --type --limit".split(" "), ...words),
      fc.string({ unit: anyCharacter, maxLength: 8 }),
    ),
    { maxLength: 6 },
  );

  it("is a command, or is refused in words with an exit code of the table", async () => {
    const write = vi.spyOn(process.stderr, "write");
    const print = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    try {
      await fc.assert(
        fc.asyncProperty(args, async (given) => {
          write.mockReset().mockReturnValue(true);
          const program = await createProgram(given[0]);
          program.hook("preAction", () => {
            throw new CommandError("usage", "It would run.");
          });
          const exitCode = await runProgram(given, program);
          const errors = write.mock.calls.map(([text]) => String(text)).join("");
          expect([0, 1, 2, 3]).toContain(exitCode);
          if (exitCode !== 0) expect(errors.trim()).not.toBe("");
          expect(errors).not.toMatch(ownFault);
        }),
        { numRuns: 200 },
      );
    } finally {
      write.mockRestore();
      print.mockRestore();
    }
  });
});

describe("an output of a stack, whatever it is", () => {
  const place = { partition: "aws", region: "eu-west-1", account: "123456789012" };
  const isTaken = (outputs: Readonly<Record<string, string>>) => {
    try {
      checkAddresses(outputs, place, "outputs.json");
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(CommandError);
      return false;
    }
  };
  const outputs = near(
    [
      "https://sqs.eu-west-1.amazonaws.com/123456789012/q",
      "https://sqs.eu-west-1.amazonaws.com@evil.example/123456789012/q",
      "arn:aws:secretsmanager:eu-west-1:123456789012:secret:Token-abc",
      "https://abc.execute-api.eu-west-1.amazonaws.com/webhooks",
      "https://abc.lambda-url.eu-west-1.on.aws/",
    ],
    ["amazonaws.com", "on.aws", "sqs.", "@", "#", "//", "\\u002f", ":443", "evil.example"],
  );

  it("leads nowhere but to AWS's own addresses in the stage's region", () => {
    fc.assert(
      fc.property(outputs, (text) => {
        expect(placeOfArn(text)?.region ?? "none").toMatch(/^[a-z0-9-]+$/);
        if (isTaken({ UsersQueueUrl: text }))
          expect(new URL(text).origin).toBe("https://sqs.eu-west-1.amazonaws.com");
        if (isOwnAddress(text, "execute-api", place))
          expect(new URL(text).hostname).toMatch(/\.execute-api\.eu-west-1\.amazonaws\.com$/);
        if (isTaken({ DocumentsUrl: text }))
          expect(new URL(text).hostname).toMatch(/\.lambda-url\.eu-west-1\.on\.aws$/);
      }),
      { numRuns: 2_000 },
    );
  });
});
