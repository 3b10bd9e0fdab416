import { type Sandbox, type SandboxOptions, startSandbox } from "@income-events/sandbox/server.ts";
import type { SQSEvent } from "aws-lambda";
import { beforeEach, onTestFinished } from "vitest";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { messageDigest } from "../../../domain/fetch/document.ts";
import type { ProviderSettings } from "../../../domain/fetch/provider-settings.ts";
import { type DocumentTask, documentTask, writeTask } from "../../../domain/fetch/task.ts";
import { keptPages } from "../../../functions/fetch/read-pages.ts";
import { type ProviderAnswer, startTestProvider } from "../../support/test-provider.ts";
import { fetcherFixture, income, noon } from "./fetcher-fixture.ts";
import { provider } from "./fetcher-settings.ts";
import { context, sqsEvent } from "./lambda.ts";
import { savedDocuments } from "./saved-documents.ts";

const settings: ProviderSettings = {
  ...provider,
  paths: { ...provider.paths, read: "/api/v0.4/accounts/{account_id}/{endpoint}" },
  maxDataBytes: 1_000_000,
};

type Circumstances = {
  /** Remaining time of the function, evaluated at each read. */
  readonly timeLeft?: () => number;
  /** Receive count of the tasks. */
  readonly receives?: number;
  /** Called with each read of saved pages, before they are used. */
  readonly onPagesFound?: () => void;
  readonly others?: Partial<ProviderSettings>;
};

/** Statuses of the sandbox's calls. */
export const callsOf = (sandbox: Sandbox) =>
  sandbox
    .calls()
    .filter(({ path }) => path.endsWith("/income"))
    .map(({ status }) => status);

/** The fetcher's fixture with a bucket of its own for each test, providers with pages, and single runs. */
export function listFixture(tables: string) {
  const made = fetcherFixture(tables);
  beforeEach(async () => {
    made.bucket = await made.system.createBucket();
  });
  const savedPages = () => keptPages(overflowBucket(made.bucket.name));

  /**
   * Runs the fetcher once for some tasks, in messages `m0`, `m1` and so on.
   * @returns visibility timeouts of the remaining messages, and reasons of the rejected ones
   */
  async function run(
    remote: { readonly baseUrl: string; readonly token: string },
    tasks: readonly DocumentTask[] = [task()],
    circumstances: Circumstances = {},
  ) {
    const { timeLeft = () => 60_000, receives = 1, others = {} } = circumstances;
    const ofTest = { ...settings, ...others };
    const hidden: number[] = [];
    const reasons: (string | undefined)[] = [];
    const api = new ProviderApi(remote.baseUrl, ofTest, () => noon);
    const handler = made.fetcherOf(ofTest, {
      keptPages: {
        ...savedPages(),
        find: async (of) => {
          const list = await savedPages().find(of);
          circumstances.onPagesFound?.();
          return list;
        },
      },
      client: {
        call: (apiCall) => api.send(remote.token, apiCall),
        gate: () => undefined,
        prepare: async () => undefined,
      },
      send: async (_, messages) => {
        reasons.push(...messages.map(({ reason }) => reason));
        return messages.map(() => undefined);
      },
      changeVisibility: async (_, messages) => {
        hidden.push(...messages.map(({ seconds }) => seconds));
        return messages.map(() => undefined);
      },
      now: () => noon,
      random: () => 0,
    });
    const messages = tasks.map((each, index) => ({ MessageId: `m${index}`, Body: writeTask(each) }));
    const { Records } = sqsEvent(messages, { receives, firstReceivedAt: noon });
    const event: SQSEvent = {
      Records: Records.map((record) => ({
        ...record,
        attributes: { ...record.attributes, SentTimestamp: String(noon.getTime()) },
      })),
    };
    await handler(event, { ...context, getRemainingTimeInMillis: timeLeft });
    return { hidden, reasons };
  }

  /** A task to read an account's income, wanted since a time. */
  const task = (of: Subject = made.subject, since = noon.getTime()) =>
    documentTask(of, income, since, { cause: `event-${crypto.randomUUID()}.1` });
  /** Saves pages of a task, as a run that ended before the last page. */
  const keepPagesOf = ({ subject: of, endpoint }: DocumentTask, messageId: string) => {
    const read = { asOf: noon.getTime(), by: [messageDigest(messageId)], known: undefined };
    const from = { next: "kept", pages: 1, mark: "mark" };
    return savedPages().keep({ subject: of, endpoint, messageId }, { read, from, items: [Buffer.from("1")] });
  };
  const contentOf = (subject: Subject) =>
    savedDocuments(made.system, made.table, made.bucket).content(subject);

  /** A sandbox with one account whose income has eight items. */
  async function sandboxFor(options: SandboxOptions = {}): Promise<Sandbox> {
    const sandbox = await startSandbox(options);
    onTestFinished(() => sandbox.close());
    const { accounts } = await sandbox.createUsers(1);
    const id = accounts[0] ?? "";
    await fetch(`${sandbox.baseUrl}/api/v0.4/accounts/${id}/fetches`, {
      method: "POST",
      headers: { authorization: `Bearer ${sandbox.token}`, "content-type": "application/json" },
      body: JSON.stringify({ endpoints: ["income"] }),
    });
    await sandbox.waitUntilIdle();
    made.subject = { kind: "account", id };
    return sandbox;
  }

  const wholeOf = (sandbox: Sandbox) => ({ ...Object(sandbox.data(made.subject.id, "income")), next: null });

  /** A scripted provider; reports the path and query of each call. */
  async function providerFor(
    answer: (path: string, count: number) => ProviderAnswer | Promise<ProviderAnswer>,
  ) {
    const remote = await startTestProvider();
    onTestFinished(remote.close);
    remote.answer = ({ path }, count) => answer(path, count);
    return { baseUrl: remote.url, token: "jwt", requests: remote.requests };
  }

  return Object.assign(made, { run, task, contentOf, keepPagesOf, sandboxFor, wholeOf, providerFor });
}
