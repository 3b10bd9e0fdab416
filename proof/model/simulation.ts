// Functions load it on first use, and that takes longer than the model waits for a step.
import "#lazy/jmespath";
import type { PartialList } from "../../adapters/s3/overflow-bucket.ts";
import type { SecretReader } from "../../adapters/secrets/secret-reader.ts";
import type { Outgoing } from "../../adapters/sqs/sqs-sender.ts";
import type { AttributeExpressions } from "../../domain/event/attributes.ts";
import type { WebhookKind } from "../../domain/event/events.ts";
import type { KindMapping } from "../../domain/event/mapping.ts";
import type { TokenVersion } from "../../domain/fetch/token.ts";
import type { ReadinessSettings, UserRule } from "../../domain/readiness/readiness.ts";
import type { Log } from "../../functions/runtime/log.ts";
import { defaultMapping } from "../../lib/settings/default-mapping.ts";
import type { ProviderRead } from "../chaos/audit/find-unready.ts";
import { keptLog, type LogEntry } from "../support/kept-log.ts";
import { fetchBatch, fetchLifetime } from "./fetch.ts";
import { checkDeadlines, findStale, receive, refreshToken, relayBatch, store } from "./functions.ts";
import { type Do, type Process, Processes } from "./processes.ts";
import { allAccountIds, endpoint, type Provider, profile, type Webhook } from "./provider.ts";
import { type Message, Queue } from "./queue.ts";
import { Reads } from "./reads.ts";
import { redriveDeadLetters } from "./redrive.ts";
import { Secret } from "./secret.ts";
import type { Surroundings } from "./surroundings.ts";
import { Table, type TableMutation } from "./table.ts";

export const workQueues = ["users", "accounts", "endpoints", "fetch", "checks", "deadlines"] as const;
export type WorkQueue = (typeof workQueues)[number];
const begin = Date.UTC(2026, 0, 1);
/** Lifetime of a process of each function but the fetch, in milliseconds. */
const processLifetime = 30_000;
const batch = 3;
const tokenKeptFor = 60_000;

/** Whether the queue contains tasks of the function that calls the provider. */
function isOfTasks(name: WorkQueue): name is "fetch" | "checks" {
  return name === "fetch" || name === "checks";
}

export type SimulationOptions = {
  readonly mutation?: TableMutation;
  /** Difference of SQS's clock from DynamoDB's, in milliseconds. */
  readonly queueAhead?: number;
  readonly settings?: OptionalSettings | undefined;
};

/** Settings that a stage need not have. */
export type OptionalSettings = {
  readonly readiness?: { readonly users: UserRule; readonly deadlineSeconds: number } | undefined;
  readonly hasAttributes?: boolean;
};

export const defaultReadiness = { users: "all", deadlineSeconds: 3_600 } as const;

/** A possible next action. */
export type Action = { readonly what: string; readonly run: () => void };

/**
 * The pipeline's own functions with a provider, and simulated queues, table, stream and secret. Each effect
 * of a function is a step, before which anything may happen.
 */
export class Simulation implements Surroundings {
  readonly provider: Provider;
  readonly table: Table;
  readonly secret: Secret;
  readonly reads = new Reads();
  readonly pages = new Map<string, PartialList>();
  readonly processes = new Processes();
  readonly subscribers = ["lender", "auditor"] as const;
  readonly entries: LogEntry[];
  readonly log: Log;
  /** Mapping of consumers that start from now on. */
  accountsMapping: KindMapping = { ...defaultMapping.accounts, time: "time" };
  /** As the settings of the functions that begin from now on have it. */
  readiness: ReadinessSettings | undefined;
  readonly attributes: AttributeExpressions;
  readonly answered: ProviderRead[] = [];
  time = begin;
  readonly #queueAhead: number;
  readonly #queues = new Map<string, Queue>();
  #relayed = 0;
  #token: { readonly version: TokenVersion; readonly since: number } | undefined;

  constructor(provider: Provider, { mutation = "none", queueAhead = 0, settings }: SimulationOptions = {}) {
    const { readiness, hasAttributes = false } = settings ?? {};
    this.provider = provider;
    this.#queueAhead = queueAhead;
    this.readiness = readiness && { endpoints: [endpoint, profile], ...readiness };
    this.attributes = hasAttributes ? { loanId: "metadata.loan_id" } : {};
    this.table = new Table(mutation, this.readiness?.endpoints);
    this.secret = new Secret(provider.issueToken(), this.now);
    ({ log: this.log, entries: this.entries } = keptLog());
  }

  readonly now = (): Date => new Date(this.time);

  /** By SQS's clock. */
  get queueTime(): number {
    return this.time + this.#queueAhead;
  }

  queue(name: string): Queue {
    const isWaiting = name === "checks" || name === "deadlines";
    const purpose = name === "fetch" ? "ordered tasks" : isWaiting ? "tasks" : "events";
    const queue = this.#queues.get(name) ?? new Queue(name, purpose);
    this.#queues.set(name, queue);
    return queue;
  }

  /** @param address ends in the name of a queue or dead-letter queue */
  send(address: string, message: Outgoing): void {
    const url = address.split("/").at(-1) ?? address;
    if (url.endsWith(" dead")) this.queue(url.slice(0, -" dead".length)).reject(message, this.queueTime);
    else this.queue(url).send(message, this.queueTime);
  }

  hide(address: string, receipt: string, seconds: number): void {
    this.queue(address.split("/").at(-1) ?? address).hide(receipt, this.queueTime + seconds * 1_000);
  }

  /** Reads the token as a warm environment does: cached for a while. */
  tokenReaderOf(step: Do): SecretReader<TokenVersion> {
    const readAgain = async () => {
      const version = await step("reads the token", () => this.secret.current);
      this.#token = { version, since: this.time };
      return version;
    };
    return {
      read: async () => {
        const kept = this.#token;
        return kept !== undefined && this.time - kept.since < tokenKeptFor ? kept.version : readAgain();
      },
      readAgain,
    };
  }

  /** Sends a webhook once; without a 2xx answer it is sent again later. */
  deliver(webhook: Webhook): void {
    this.processes.start("receive", this.time + processLifetime, async ({ do: step }) => {
      const status = await receive(this, step, webhook);
      await step("answers", () => {
        if (status >= 200 && status < 300) webhook.isAnswered = true;
      });
    });
  }

  /** Delivers a batch to a queue's function; what it does not report as failed is deleted. */
  poll(name: WorkQueue, messages: readonly Message[]): void {
    const queue = this.queue(name);
    const lifetime = isOfTasks(name) ? fetchLifetime : processLifetime;
    const received = queue.receive(messages, this.queueTime, 6 * lifetime);
    if (received.length === 0) return;
    this.processes.start(name, this.time + lifetime, async (process) => {
      const { batchItemFailures } = await this.#handle(name, process, received);
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      await process.do("deletes what is done", () => queue.complete(received, failed));
    });
  }

  /** Delivers the next records of the stream; they are redelivered if the relay crashes or fails. */
  relay(): void {
    const from = this.#relayed;
    this.processes.start("relay", this.time + processLifetime, async ({ do: step }) => {
      const done = await relayBatch(this, step, from, batch);
      await step("passes the checkpoint", () => {
        this.#relayed = from + done;
      });
    });
  }

  /** Redelivers earlier records of the stream. */
  replay(records: number): void {
    if (this.processes.count("relay") === 0) this.#relayed = Math.max(0, this.#relayed - records);
  }

  refresh(): void {
    this.processes.start("refresh", this.time + processLifetime, ({ do: step }) => refreshToken(this, step));
  }

  findStale(): void {
    const accounts = allAccountIds.map((id) => ({ kind: "account", id }) as const);
    this.processes.start("reconcile", this.time + processLifetime, (process) =>
      findStale(this, process, accounts),
    );
  }

  /** Redrives dead letters as an operator does. */
  redrive(name: WorkQueue, isWanted: (deadLetter: Message) => boolean): void {
    const queue = this.queue(name);
    this.processes.start("redrive", Number.POSITIVE_INFINITY, ({ do: step }) =>
      redriveDeadLetters(this, step, { name, queue, isWanted }),
    );
  }

  /** Advances time and kills processes past their lifetime. */
  pass(millis: number): void {
    this.time += millis;
    this.processes.killOlder(this.time);
  }

  /** Possible next actions without a fault. */
  usual(): readonly Action[] {
    const isRelaying = this.processes.count("relay") > 0;
    const underWay = this.provider.webhooks.filter(({ isAnswered }) => !isAnswered);
    const turns = this.processes.steps.map(({ process, step }) => ({
      what: `${process.name} ${step.what}`,
      run: () => step.go("none"),
    }));
    const polls = workQueues.flatMap((name) => {
      const visible = this.queue(name).visible(this.queueTime).slice(0, batch);
      return visible.length === 0 ? [] : [{ what: `poll ${name}`, run: () => this.poll(name, visible) }];
    });
    const relays =
      isRelaying || this.#relayed >= this.table.stream.length
        ? []
        : [{ what: "relay", run: () => this.relay() }];
    const isReceiving = this.processes.count("receive") > 0;
    const deliveries = isReceiving
      ? []
      : underWay.map((webhook) => ({ what: "deliver", run: () => this.deliver(webhook) }));
    return [...turns, ...relays, ...polls, ...deliveries];
  }

  /** Resolves when each process waits for its turn. */
  pause(): Promise<void> {
    return this.processes.pause();
  }

  /** Milliseconds until the next message becomes visible; undefined if none is hidden. */
  get untilNextVisible(): number | undefined {
    const times = workQueues.flatMap((name) => this.queue(name).messages.map(({ visibleAt }) => visibleAt));
    const hidden = times.filter((time) => time > this.queueTime);
    return hidden.length === 0 ? undefined : Math.min(...hidden) - this.queueTime;
  }

  #handle(name: WorkQueue, process: Process, messages: readonly Message[]) {
    if (name === "deadlines") return checkDeadlines(this, process.do, messages);
    return isOfTasks(name)
      ? fetchBatch(this, process, name, messages)
      : store(this, process.do, name satisfies WebhookKind, messages);
  }
}
