import { createHash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { beforeAll, beforeEach, expect } from "vitest";
import { batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { documentVersions } from "../../../adapters/dynamodb/document-versions.ts";
import { linkTable } from "../../../adapters/dynamodb/event-table.ts";
import { subjectReads } from "../../../adapters/dynamodb/subject-reads.ts";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import type { DataName } from "../../../domain/fetch/document.ts";
import { applyEvent } from "../../../domain/state/state.ts";
import { type HttpRequest, type ReaderDependencies, reader } from "../../../functions/read/reader.ts";
import { eventOf } from "../../domain/samples.ts";
import type { TestBucket } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";
import { savedDocuments } from "../support/saved-documents.ts";
import { problemsOfAnswer } from "./described-answers.ts";

export const income = { endpoint: "income" };
export const documentsUrl = "https://reads.example/";
/** A caller whose subscriber gets only account messages. */
export const accountsOnly = {
  caller: { accountId: "333333333333", userArn: "arn:aws:iam::333333333333:user/u" },
};

export const hex = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Fixture of the read API over real engines, with a new account for each test. */
export function readingFixture(tables: string) {
  const made = Object.assign(
    systemWithTable(tables),
    {} as { bucket: TestBucket; logged: string[]; account: Subject & { kind: "account" }; userId: string },
  );
  beforeAll(async () => {
    made.bucket = await made.system.createBucket();
  });
  beforeEach(() => {
    made.logged = [];
    made.account = { kind: "account", id: randomUUID() };
    made.userId = randomUUID();
  });

  /** @param retainDays days for which a superseded version is retained; absent: not at all */
  const save = (content: string | undefined, asOf: number, name: DataName = income, retainDays?: number) =>
    savedDocuments(made.system, made.table, made.bucket).save(made.account, content, {
      asOf,
      name,
      retainDays,
    });

  async function connect(): Promise<void> {
    const { account, userId } = made;
    const event = eventOf("account.connected", { accountId: account.id, userId });
    const records = versionedRecords(made.system.dynamodb, made.table.name);
    await records.reviseState(account, (state) => applyEvent(state, event, 1));
    await linkTable(batchingWriter(made.system.dynamodb, made.table.name))(userId, account.id);
  }

  const path = (rest = "") => `/v1/accounts/${made.account.id}/documents/income${rest}`;

  async function ask(
    target: string,
    change: Partial<HttpRequest> = {},
    more: Partial<ReaderDependencies> = {},
  ) {
    const { pathname: path, search } = new URL(target, documentsUrl);
    const answer = await reader({
      reads: subjectReads(made.system.dynamodb, made.table.name),
      versions: documentVersions(made.system.dynamodb, made.table.name, () => new Date()),
      bucket: overflowBucket(made.bucket.name, made.system.s3),
      subscribers: [
        { name: "everything", principals: ["222222222222"], granted: [] },
        { name: "accounts", principals: ["333333333333"], granted: [], types: ["account.*"] },
      ],
      hasAttributes: false,
      log: (code, { principal, subject, endpoint, status } = {}) => {
        const parts = [code, principal, subject && nameOf(subject), endpoint, status];
        made.logged.push(parts.filter((each) => each !== undefined).join(" "));
      },
      ...more,
    })({
      method: "GET",
      path,
      query: search.slice(1),
      headers: {},
      caller: { accountId: "222222222222", userArn: "arn:aws:sts::222222222222:assumed-role/r/s" },
      ownAccount: "111111111111",
      documentsUrl,
      ...change,
    });
    const { body } = answer;
    const bytes = body instanceof Readable ? await buffer(body) : Buffer.from(body ?? "");
    expect(problemsOfAnswer(path, change.method ?? "GET", answer, bytes)).toEqual([]);
    return { ...answer, bytes, json: () => JSON.parse(bytes.toString()) };
  }

  return Object.assign(made, { save, connect, path, ask });
}
