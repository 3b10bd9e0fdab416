import type { SecretReader } from "../../adapters/secrets/secret-reader.ts";
import type { Outgoing } from "../../adapters/sqs/sqs-sender.ts";
import type { AttributeExpressions } from "../../domain/event/attributes.ts";
import type { KindMapping } from "../../domain/event/mapping.ts";
import type { TokenVersion } from "../../domain/fetch/token.ts";
import type { ReadinessSettings, UserRule } from "../../domain/readiness/readiness.ts";
import type { PartialList } from "../../functions/fetch/read-pages.ts";
import { defaultMapping } from "../../lib/settings/default-mapping.ts";
import type { ProviderRead } from "../chaos/audit/find-unready.ts";
import { keptLog } from "../support/kept-log.ts";
import type { Do } from "./processes.ts";
import { endpoint, type Provider, profile } from "./provider.ts";
import { Queue } from "./queue.ts";
import { Reads } from "./reads.ts";
import { Secret } from "./secret.ts";
import { Table, type TableMutation } from "./table.ts";

const begin = Date.UTC(2026, 0, 1);
const tokenKeptFor = 60_000;

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

/** Surroundings of the model's functions. Times are milliseconds since 1970. */
export abstract class Surroundings {
  readonly provider: Provider;
  readonly table: Table;
  readonly secret: Secret;
  readonly reads = new Reads();
  readonly pages = new Map<string, PartialList>();
  readonly subscribers = ["lender", "auditor"] as const;
  readonly kept = keptLog();
  /** Mapping of consumers that start from now on. */
  accountsMapping: KindMapping = { ...defaultMapping.accounts, time: "time" };
  /** As the settings of the functions that begin from now on have it; absent if the stage has no such setting. */
  readiness: ReadinessSettings | undefined;
  readonly attributes: AttributeExpressions;
  /** Calls that the provider answered with data, by SQS's clock. */
  readonly answered: ProviderRead[] = [];
  /** By DynamoDB's clock. */
  time = begin;
  readonly #queueAhead: number;
  readonly #queues = new Map<string, Queue>();
  #token: { readonly version: TokenVersion; readonly since: number } | undefined;

  constructor(provider: Provider, { mutation = "none", queueAhead = 0, settings }: SimulationOptions = {}) {
    const { readiness, hasAttributes = false } = settings ?? {};
    this.provider = provider;
    this.#queueAhead = queueAhead;
    this.readiness = readiness && { endpoints: [endpoint, profile], ...readiness };
    this.attributes = hasAttributes ? { loanId: "metadata.loan_id" } : {};
    this.table = new Table(mutation, this.readiness?.endpoints);
    this.secret = new Secret(provider.issueToken(), this.now);
  }

  /** Starts the refresher. */
  abstract refresh(): void;

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
}
