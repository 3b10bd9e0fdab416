import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { DynamoDBClient, PutItemCommand, UpdateTableCommand } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { marshall } from "@aws-sdk/util-dynamodb";
import { secretHeadersFor } from "@income-events/local-stack/engines/run-secret.ts";
import { partitionOf, replayKey } from "../../../adapters/dynamodb/keys.ts";
import { sweepLease } from "../../../adapters/erasure/sweep-lease.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { mayHoldOthers, queueDeadLetters } from "../../../adapters/sqs/queue-dead-letters.ts";
import { releaseAll } from "../../../adapters/sqs/queue-messages.ts";
import { type Fields, isFields } from "../../../domain/core/parse.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import { applyEvent } from "../../../domain/state/state.ts";
import type { EraserDependencies } from "../../../functions/erase/dependencies.ts";
import { type Fetched, type Piece, type StoredEvent, World } from "../../../proof/model/erasure/world.ts";
import { receiptOf } from "../../adapters/dynamodb/receipt.ts";
import type { TestSystem } from "../../support/engines.ts";
import { takePieces } from "./engine-pieces.ts";
import { type ErasureFixture, erasedAt } from "./erasing.ts";

/** Longer than a history: hidden messages reappear by its steps. */
const hiddenSeconds = 600;
/** Steps until messages hidden by a killed reader reappear, as its lease does. */
const hiddenSteps = 3;
const secondsPerStep = 30;
/** Exceeds an item, however it is compressed. */
const largeBytes = 10_000;

const unsigned = {
  "x-amz-date": "20261121T120000Z",
  authorization:
    "AWS4-HMAC-SHA256 Credential=test/20261121/eu-central-1/any/aws4_request, SignedHeaders=host, Signature=none",
};

/** Parts of the SDK's clients that local engines do not need. */
const costly = ["loggerMiddleware", "getUserAgentMiddleware"];

type Fuse = {
  callsLeft: number | undefined;
  /** Dead letters received since this was last emptied. */
  received: (string | undefined)[];
};

/** State of the current history: histories share clients, but each kills only its own functions. */
const fuses = new AsyncLocalStorage<Fuse>();

/**
 * A system whose clients bypass the gateway: a history makes hundreds of calls. Calls fail in histories whose
 * function has ended. Polls return at once: the engine is one server and sees all messages. Tables have no
 * stream: erasures read none, and each record of a stream slows the fast engine's writes.
 */
export function withoutGateway(system: TestSystem): TestSystem {
  const { tables, queuesAndObjects } = system.engines;
  const settings = {
    region: system.access.region,
    // A busy machine's engine may close an idle connection just as it is reused.
    maxAttempts: 3,
    // The engines ignore signatures, which take a tenth of a call.
    signer: {
      sign: async <T extends { readonly headers: Record<string, string> }>(request: T) => {
        Object.assign(request.headers, unsigned);
        return request;
      },
    },
    credentials: system.access.credentials,
  };
  const toQueuesAndObjects = { ...settings, endpoint: new URL(queuesAndObjects).origin };
  const dynamodb = new DynamoDBClient({ ...settings, endpoint: new URL(tables).origin });
  const sqs = new SQSClient(toQueuesAndObjects);
  const s3 = new S3Client({ ...toQueuesAndObjects, forcePathStyle: true });
  const burn = () => {
    const fuse = fuses.getStore();
    if (fuse?.callsLeft === undefined) return undefined;
    fuse.callsLeft -= 1;
    return fuse.callsLeft < 0 ? Promise.reject(new Error("the function has ended")) : undefined;
  };
  const isLookAtDeadLetters = ({ VisibilityTimeout }: Fields) => VisibilityTimeout === hiddenSeconds;
  const first = { step: "initialize" } as const;
  dynamodb.middlewareStack.add((next) => (args) => burn() ?? next(args), first);
  s3.middlewareStack.add((next) => (args) => burn() ?? next(args), first);
  sqs.middlewareStack.add(
    (next) => async (args) => {
      const isLook = isFields(args.input) && isLookAtDeadLetters(args.input);
      if (isLook) Object.assign(args.input, { WaitTimeSeconds: 0 });
      await burn();
      const answer = await next(args);
      if (isLook && "Messages" in answer.output)
        fuse().received.push(...(answer.output.Messages ?? []).map(({ ReceiptHandle }) => ReceiptHandle));
      return answer;
    },
    first,
  );
  const said = { step: "build" } as const;
  dynamodb.middlewareStack.add((next) => (args) => sayWho(args.request, tables) ?? next(args), said);
  sqs.middlewareStack.add((next) => (args) => sayWho(args.request, queuesAndObjects) ?? next(args), said);
  s3.middlewareStack.add((next) => (args) => sayWho(args.request, queuesAndObjects) ?? next(args), said);
  for (const name of costly) {
    dynamodb.middlewareStack.remove(name);
    sqs.middlewareStack.remove(name);
    s3.middlewareStack.remove(name);
  }
  const createTable = async () => {
    const table = await system.createTable();
    const StreamSpecification = { StreamEnabled: false };
    await dynamodb.send(new UpdateTableCommand({ TableName: table.name, StreamSpecification }));
    return table;
  };
  return { ...system, dynamodb, sqs, s3, createTable };
}

/** Adds the run's secret to a request if the engine's URL has one. */
function sayWho(request: unknown, address: string): undefined {
  const headers = isFields(request) ? request.headers : undefined;
  if (isFields(headers)) Object.assign(headers, secretHeadersFor(address));
}

/** Runs an action whose functions can be killed without killing others'. */
export function withFuse<T>(run: () => Promise<T>): Promise<T> {
  return fuses.run({ callsLeft: undefined, received: [] }, run);
}

/**
 * An erasure's surroundings in real engines, with a fixture's queues, buckets and table, which only one world
 * uses at a time.
 */
export class EngineWorld extends World {
  readonly ports: EraserDependencies;
  readonly #system: TestSystem;
  readonly #fixture: ErasureFixture;
  #seconds = erasedAt.getTime() / 1000;
  #hidden: { steps: number; readonly handles: readonly (string | undefined)[] }[] = [];

  /** @param fixture new, or of another world whose pieces were taken */
  constructor(system: TestSystem, fixture: ErasureFixture) {
    super();
    this.#system = system;
    this.#fixture = fixture;
    const { dynamodb, sqs, s3 } = system;
    const { dependencies, deadLetters, archivedDeadLetters, table, overflow } = fixture;
    const inQueue = queueDeadLetters(
      sqs,
      deadLetters.users,
      () => hiddenSeconds,
      mayHoldOthers(sqs, deadLetters.users),
    );
    this.ports = {
      ...dependencies,
      bodies: overflowBucket(overflow.name, s3),
      deadLetters: async () => [["users", [inQueue, archivedDeadLetters.source("users")]]],
      takeSweepLease: sweepLease(dynamodb, table.name, () => new Date(this.#seconds * 1000)),
      send: async (_, messages) => {
        for (const { body } of messages) await this.ask(body);
        return messages.map(() => undefined);
      },
    };
  }

  erased(subjects: readonly Subject[]): Promise<ReadonlySet<string>> {
    return this.#fixture.findErased(subjects);
  }

  async record({ event, body }: StoredEvent): Promise<void> {
    await this.#fixture.storing.record([receiptOf(event, body)]);
  }

  project(event: IncomeEvent): Promise<void> {
    return this.#fixture.storing.versionedRecords.reviseState(subjectOf(event), (state) =>
      applyEvent(state, event, 1),
    );
  }

  link(userId: string, accountId: string): Promise<void> {
    return this.#fixture.storing.link(userId, accountId);
  }

  keepDocument({ account, userId, text, isLarge }: Fetched): Promise<void> {
    const filler = isLarge ? randomBytes(largeBytes).toString("base64") : "";
    return this.#fixture.storing.document(account, "income", JSON.stringify({ text, filler }), { userId });
  }

  async putBody(key: string, text: string): Promise<void> {
    await this.#fixture.put(this.#fixture.overflow.name, key, text);
  }

  async hasBody(key: string): Promise<boolean> {
    return (await this.#fixture.storing.overflow.find(key)) !== undefined;
  }

  leaveDeadLetter(body: string): Promise<void> {
    return this.#system.send(this.#fixture.deadLetters.users, body);
  }

  archiveDeadLetter(messageId: string, body: string): Promise<void> {
    return this.#fixture.archivedDeadLetters.put("users", { messageId, sentAt: erasedAt, receives: 1, body });
  }

  async hideDeadLetters(): Promise<void> {
    const QueueUrl = this.#fixture.deadLetters.users;
    const request = { QueueUrl, VisibilityTimeout: hiddenSeconds, MaxNumberOfMessages: 10 };
    for (;;) {
      const { Messages = [] } = await this.#system.sqs.send(new ReceiveMessageCommand(request));
      if (Messages.length === 0) return this.#hide();
    }
  }

  /** Hides received messages, which their reader never returns. */
  #hide(): void {
    const { received } = fuse();
    this.#hidden.push({ steps: hiddenSteps, handles: received.splice(0) });
  }

  /** In Lambda's format. */
  async giveUp(id: string, records: readonly string[]): Promise<void> {
    if (records.length === 0) return;
    const payload = `{"Records":[${records.join(",")}]}`;
    await this.#fixture.put(this.#fixture.failures.name, id, JSON.stringify({ payload }));
  }

  async startReplay(id: string, subject: Subject, reason: string): Promise<void> {
    const Item = marshall({ ...replayKey(id), reason, after: { pk: partitionOf(subject) } });
    await this.#system.dynamodb.send(new PutItemCommand({ TableName: this.#fixture.table.name, Item }));
  }

  async tick(): Promise<void> {
    this.#seconds += secondsPerStep;
    fuse().received = [];
    for (const each of this.#hidden) each.steps -= 1;
    for (const { handles } of this.#hidden.filter(({ steps }) => steps === 0)) await this.#show(handles);
    this.#hidden = this.#hidden.filter(({ steps }) => steps > 0);
  }

  async #show(handles: readonly (string | undefined)[]): Promise<void> {
    const received = handles.map((ReceiptHandle) => ({ ReceiptHandle }));
    await releaseAll(this.#system.sqs, this.#fixture.deadLetters.users, received);
  }

  failAfter(calls: number | undefined): void {
    const hasEnded = (fuse().callsLeft ?? 0) < 0;
    fuse().callsLeft = calls;
    if (hasEnded) this.#hide();
  }

  async pieces(): Promise<readonly Piece[]> {
    for (const { handles } of this.#hidden.splice(0)) await this.#show(handles);
    return takePieces(this.#system, this.#fixture);
  }
}

function fuse(): Fuse {
  const store = fuses.getStore();
  if (store === undefined) throw new Error("withFuse: not called");
  return store;
}
