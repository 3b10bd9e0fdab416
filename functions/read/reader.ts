import { type DocumentVersions, supersededVersion } from "../../adapters/dynamodb/document-versions.ts";
import type { subjectReads } from "../../adapters/dynamodb/subject-reads.ts";
import type { ObjectBucket } from "../../adapters/s3/overflow-bucket.ts";
import { failureOf } from "../../domain/core/failures.ts";
import { present } from "../../domain/core/parse.ts";
import { userOf } from "../../domain/message/consequences.ts";
import {
  hrefOfDocument,
  hrefOfSubject,
  nameFields,
  referenceOf,
} from "../../domain/message/document-reference.ts";
import { reportOfState } from "../../domain/message/message.ts";
import {
  type Caller,
  documentsOf,
  mayRead,
  principalOf,
  type ReadingSubscriber,
} from "../../domain/read/access.ts";
import { notFound, problem, versionNotKept } from "../../domain/read/problem.ts";
import { isWanted, type ReadRequest, routeOf } from "../../domain/read/route.ts";
import type { Log, LogFields } from "../runtime/log.ts";
import { type Answer, jsonAnswer, problemAnswer } from "./answer.ts";
import { documentAnswer } from "./document-answer.ts";

/** A request that IAM has allowed. */
export type HttpRequest = {
  readonly method: string;
  /** Percent-encoded. */
  readonly path: string;
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly caller: Caller;
  /** AWS account of the stage. */
  readonly ownAccount: string;
  /** Base URL of the API, with a trailing slash. */
  readonly documentsUrl: string;
};

export type ReaderDependencies = {
  readonly reads: ReturnType<typeof subjectReads>;
  readonly versions: DocumentVersions;
  readonly bucket: Pick<ObjectBucket, "open">;
  readonly subscribers: readonly ReadingSubscriber[];
  /** Whether the settings map attributes of users. */
  readonly hasAttributes: boolean;
  readonly log: Log;
};

/** Answers subscribers' reads of states, lists of documents, and documents. Changes nothing. */
export function reader(dependencies: ReaderDependencies): (request: HttpRequest) => Promise<Answer> {
  const { subscribers, log } = dependencies;
  return async (request) => {
    const { caller, ownAccount } = request;
    const route = routeOf(request.method, request.path, new URLSearchParams(request.query));
    if ("status" in route) return problemAnswer(route);
    const about = { principal: principalOf(caller), ...aboutOf(route) };
    if (!mayRead(caller, route, subscribers, ownAccount)) {
      log("READ_REFUSED", about);
      return problemAnswer(problem("forbidden"));
    }
    try {
      const answer = await answerOf(route, request, dependencies);
      log(answer.status === 500 ? "DOCUMENT_DATA_MISSING" : "READ", { ...about, status: answer.status });
      return answer;
    } catch (error) {
      const failure = failureOf(error);
      log("READ_FAILED", { ...about, reason: failure.reason });
      return problemAnswer(problem(failure.type === "retryable" ? "unavailable" : "failed"));
    }
  };
}

function aboutOf(route: ReadRequest): Pick<LogFields, "subject" | "endpoint"> {
  if (route.type === "accounts") return { subject: { kind: "user", id: route.userId } };
  const endpoint = route.type === "state" ? undefined : route.name.endpoint;
  return present<Pick<LogFields, "subject" | "endpoint">>({ subject: route.subject, endpoint });
}

function answerOf(
  route: ReadRequest,
  request: HttpRequest,
  dependencies: ReaderDependencies,
): Promise<Answer> {
  switch (route.type) {
    case "state":
      return stateAnswer(route, request, dependencies);
    case "accounts":
      return accountsAnswer(route.userId, request, dependencies);
    case "document":
      return documentOrVersion(route, request, dependencies);
    case "versions":
      return versionsAnswer(route, request, dependencies);
  }
}

async function stateAnswer(
  route: Extract<ReadRequest, { type: "state" }>,
  { caller, ownAccount, documentsUrl }: HttpRequest,
  { reads, subscribers, hasAttributes }: ReaderDependencies,
): Promise<Answer> {
  const listing = documentsOf(route);
  const mayList = listing !== undefined && mayRead(caller, listing, subscribers, ownAccount);
  const [state, stored] = await Promise.all([
    reads.state(route.subject),
    mayList ? reads.documents(route.subject) : undefined,
  ]);
  if (state === undefined) return problemAnswer(notFound);
  const documents = stored?.flatMap(({ document }) => {
    const reference = referenceOf(document, documentsUrl);
    return reference === undefined ? [] : [{ ...nameFields(document), ...reference }];
  });
  const user = hasAttributes
    ? await userOf({ type: "state", before: undefined, after: state }, reads.state)
    : undefined;
  return jsonAnswer({ ...reportOfState(state, user), ...present({ documents }) });
}

async function accountsAnswer(
  userId: string,
  { documentsUrl }: HttpRequest,
  { reads }: ReaderDependencies,
): Promise<Answer> {
  const [user, states] = await Promise.all([
    reads.state({ kind: "user", id: userId }),
    reads.accounts(userId),
  ]);
  if (user === undefined && states.length === 0) return problemAnswer(notFound);
  const accounts = states.map((state) => {
    return { ...reportOfState(state, user), href: hrefOfSubject(state.subject, documentsUrl) };
  });
  return jsonAnswer({ accounts });
}

async function documentOrVersion(
  { subject, name, wanted }: Extract<ReadRequest, { type: "document" }>,
  { method, headers, documentsUrl }: HttpRequest,
  { reads, versions, bucket }: ReaderDependencies,
): Promise<Answer> {
  const stored = await reads.document(subject, name);
  const { digest, announced } = stored?.document ?? {};
  if (stored === undefined || announced === undefined) return problemAnswer(notFound);
  const found = isWanted(wanted, announced)
    ? digest === undefined
      ? undefined
      : stored
    : await supersededVersion(versions, { subject, name }, wanted);
  if (found === undefined) {
    const newest = hrefOfDocument(subject, name, documentsUrl);
    return problemAnswer(digest === undefined ? notFound : versionNotKept(newest));
  }
  return documentAnswer(
    found,
    {
      acceptEncoding: headers["accept-encoding"],
      ifNoneMatch: headers["if-none-match"],
      isHead: method === "HEAD",
    },
    bucket,
  );
}

/** Lists the newest version first; it has no `supersededAt`. */
async function versionsAnswer(
  { subject, name }: Extract<ReadRequest, { type: "versions" }>,
  { documentsUrl }: HttpRequest,
  { reads, versions }: ReaderDependencies,
): Promise<Answer> {
  const stored = await reads.document(subject, name);
  if (stored?.document.announced === undefined) return problemAnswer(notFound);
  const { announced } = stored.document;
  const others = (await versions.all(subject, name)).filter(
    ({ document }) => document.announced !== announced,
  );
  const newest = referenceOf(stored.document, documentsUrl);
  const superseded = others.flatMap(({ document, supersededAt }) => {
    const reference = referenceOf(document, documentsUrl);
    return reference === undefined
      ? []
      : [{ ...reference, supersededAt: new Date(supersededAt).toISOString() }];
  });
  const listed = [...(newest === undefined ? [] : [newest]), ...superseded];
  return jsonAnswer({ ...nameFields(name), versions: listed });
}
