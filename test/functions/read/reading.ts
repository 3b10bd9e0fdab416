import { createHash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect } from "vitest";
import { batchingReader, batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { documentVersions } from "../../../adapters/dynamodb/document-versions.ts";
import { contentOf, documentStore, versionKeeper } from "../../../adapters/dynamodb/documents.ts";
import { linkTable } from "../../../adapters/dynamodb/event-table.ts";
import { subjectReads } from "../../../adapters/dynamodb/subject-reads.ts";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { type DataName, documentAfter } from "../../../domain/fetch/document.ts";
import { documentTask } from "../../../domain/fetch/task.ts";
import { applyEvent } from "../../../domain/state/state.ts";
import { type HttpRequest, type ReaderDependencies, reader } from "../../../functions/read/reader.ts";
import { eventOf } from "../../domain/samples.ts";
import { startTestSystem, type TestBucket, type TestSystem, type TestTable } from "../../support/engines.ts";
import { problemsOfAnswer } from "./described-answers.ts";

export const income = { endpoint: "income" };
export const documentsUrl = "https://reads.example/";
/** A caller whose subscriber gets only account messages. */
export const accountsOnly = {
  caller: { accountId: "333333333333", userArn: "arn:aws:iam::333333333333:user/u" },
};

export const hex = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** The read API over real engines, with a new account for each test. */
export class Reading {
  readonly system: TestSystem;
  readonly table: TestTable;
  readonly bucket: TestBucket;
  logged: string[] = [];
  account: Subject & { kind: "account" } = { kind: "account", id: "" };
  userId = "";

  private constructor(system: TestSystem, table: TestTable, bucket: TestBucket) {
    this.system = system;
    this.table = table;
    this.bucket = bucket;
  }

  static async start(tables: string): Promise<Reading> {
    const system = await startTestSystem(tables);
    return new Reading(system, await system.createTable(), await system.createBucket());
  }

  close(): Promise<void> {
    return this.system.close();
  }

  begin(): void {
    this.logged = [];
    this.account = { kind: "account", id: randomUUID() };
    this.userId = randomUUID();
  }

  reads() {
    return subjectReads(this.system.dynamodb, this.table.name);
  }

  read() {
    return batchingReader(this.system.dynamodb, this.table.name);
  }

  writes() {
    return batchingWriter(this.system.dynamodb, this.table.name, async () => undefined);
  }

  /** @param retainDays days for which a superseded version is retained; absent: not at all */
  async save(content: string | undefined, asOf: number, name: DataName = income, retainDays?: number) {
    const [read, write] = [this.read(), this.writes()];
    const retainVersion = retainDays === undefined ? undefined : versionKeeper(read, write, retainDays);
    const store = documentStore(read, write, this.#objects(), retainVersion);
    const known = await store.load(this.account, name);
    const given = content === undefined ? undefined : contentOf(content);
    const task = documentTask(this.account, name, asOf, { cause: "c" });
    const found = given && { digest: given.digest, size: Buffer.byteLength(content ?? "") };
    await store.save(known, documentAfter(known?.document, { asOf, by: [], task }, found), given);
  }

  async connect() {
    const { account, userId } = this;
    const event = eventOf("account.connected", { accountId: account.id, userId });
    const records = versionedRecords(this.system.dynamodb, this.table.name);
    await records.reviseState(account, (state) => applyEvent(state, event, 1));
    await linkTable(this.writes())(userId, account.id);
  }

  path(rest = ""): string {
    return `/v1/accounts/${this.account.id}/documents/income${rest}`;
  }

  async ask(target: string, change: Partial<HttpRequest> = {}, more: Partial<ReaderDependencies> = {}) {
    const { pathname: path, search } = new URL(target, documentsUrl);
    const answer = await reader({
      reads: this.reads(),
      versions: documentVersions(this.system.dynamodb, this.table.name, () => new Date()),
      bucket: this.#objects(),
      subscribers: [
        { name: "everything", principals: ["222222222222"], granted: [] },
        { name: "accounts", principals: ["333333333333"], granted: [], types: ["account.*"] },
      ],
      hasAttributes: false,
      log: (code, { principal, subject, endpoint, status } = {}) => {
        const parts = [code, principal, subject && nameOf(subject), endpoint, status];
        this.logged.push(parts.filter((each) => each !== undefined).join(" "));
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

  #objects() {
    return overflowBucket(this.bucket.name, this.system.s3);
  }
}
