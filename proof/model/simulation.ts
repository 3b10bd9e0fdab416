// Functions load it on first use, and that takes longer than the model waits for a step.
import "#lazy/jmespath";
import type { WebhookKind } from "../../domain/event/events.ts";
import {
  checkDeadlines,
  fetchBatch,
  fetchLifetime,
  findStale,
  receive,
  redriveDeadLetters,
  refreshToken,
  relayBatch,
  store,
} from "./functions.ts";
import { type Process, Processes } from "./processes.ts";
import { allAccountIds, type Webhook } from "./provider.ts";
import type { Message } from "./queue.ts";
import { Surroundings } from "./surroundings.ts";

export const workQueues = ["users", "accounts", "endpoints", "fetch", "checks", "deadlines"] as const;
export type WorkQueue = (typeof workQueues)[number];
/** Lifetime of a process of each function but the fetch, in milliseconds. */
const processLifetime = 30_000;
const batch = 3;

/** Whether the queue contains tasks of the function that calls the provider. */
function isOfTasks(name: WorkQueue): name is "fetch" | "checks" {
  return name === "fetch" || name === "checks";
}

/** A possible next action. */
export type Action = { readonly what: string; readonly run: () => void };

/**
 * The pipeline's own functions with a provider, and simulated queues, table, stream and secret. Each effect
 * of a function is a step, before which anything may happen.
 */
export class Simulation extends Surroundings {
  readonly processes = new Processes();
  #relayed = 0;

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
