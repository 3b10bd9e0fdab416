/** A stack that runs on this machine: how it is started, and what can be asked of it and done to it. */

import type { AlarmNotice, AlarmState, Alarms } from "../alarms/alarms.ts";
import type { AccessLogEntry, Exchange } from "../api/http-api.ts";
import type { FunctionPlan, StackPlan } from "../assembly/plan.ts";
import type { DynamoDbEngine, RunningDynamoDb } from "../engines/dynamodb.ts";
import type { Denial, Gateway } from "../gateway/types.ts";
import type { AccountConcurrency } from "../lambda/account-concurrency.ts";
import type { Delay } from "../lambda/delay.ts";
import type { Credentials } from "../lambda/environment.ts";
import type { Codes, FunctionCounts, Outcome } from "../lambda/hosted-function.ts";
import type { Held } from "../lambda/protocol.ts";
import type { Schedules } from "../schedules/schedules.ts";
import type { DrainOptions } from "../sources/drained.ts";

export type StackOptions = {
  /** A cloud assembly directory. */
  readonly assembly: string;
  /** Needed where the assembly holds several stacks. */
  readonly stackName?: string;
  /** Values for the template's parameters; they win over defaults. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly engine?: DynamoDbEngine;
  /** An engine that was started for this stack before; whoever started it closes it. */
  readonly tables?: Promise<RunningDynamoDb>;
  /** Where tables, queues, objects, secrets and stream positions are kept from one start to the next. */
  readonly keep?: string;
  /** 0 or absent: any free port. */
  readonly apiPort?: number;
  readonly gatewayPort?: number;
  /** Where each function's log is written to a file; absent: kept in memory only. */
  readonly logsDir?: string;
  readonly onProgress?: (text: string) => void;
  /** Is called for each request to the HTTP API and its answer. */
  readonly onAnswered?: (exchange: Exchange) => void;
  /** Is called when an alarm goes off, and when it is over. */
  readonly onAlarm?: (alarm: AlarmState) => void;
  /** Is called for each message that an alarm would send to a topic. */
  readonly onNotice?: (notice: AlarmNotice) => void;
  /** Milliseconds since 1970, by which alarms are evaluated; absent: this machine's. */
  readonly alarmClock?: () => number;
  /**
   * Processes for each function without reserved concurrency, 4 by default. Further invocations wait, where
   * Lambda would start more.
   */
  readonly maximumProcesses?: number;
  /** Executions that all functions together may have at once, 1000 by default; more are throttled. */
  readonly accountConcurrency?: number;
  /** How long tables' streams keep a record, 24 hours by default: a stage that divides its waits divides this too. */
  readonly streamRetentionSeconds?: number;
  /** How long FIFO queues know a deduplication id, five minutes by default; a stage divides this alike. */
  readonly deduplicationSeconds?: number;
  /** Counts the capacity units of the table's calls; see `gateway.capacity()`. */
  readonly countsCapacity?: boolean;
  /** Waits between retries and until schedules are due. Tests pass one that does not wait. */
  readonly delay?: Delay;
};

export type LocalQueue = {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly url: string;
};

export type LocalFunction = {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly memoryMb: number;
  /** Invokes synchronously with JSON text. */
  invoke(payload: string): Promise<Outcome>;
  /** Serves with other code from now on, see `functionsOf`; several take turns. What runs ends as it began. */
  serve(plans: Codes): void;
  /** What each of its warm processes that is idle holds, after all garbage is collected. */
  measureMemory(): Promise<readonly Held[]>;
  /** Kills (SIGKILL) the processes that work at this moment; answers how many. */
  killWorking(): number;
  /** Kills (SIGKILL) all its processes, so that it starts cold; answers how many. */
  kill(): number;
  counts(): FunctionCounts;
  /** The latest lines of its log. */
  log(): readonly string[];
  /** How much it has logged so far. */
  logBytes(): number;
  /** Adds a line to its log, as if it had written it. */
  addToLog(line: string): void;
};

export type StackProblems = {
  /** What policies refused, log groups included. */
  readonly denials: readonly Denial[];
  /** Functions whose handler can't be imported, with the reason. */
  readonly initErrors: readonly string[];
  /** What kept event sources, failure destinations or log files from working. */
  readonly failures: readonly string[];
};

export type LocalStack = {
  readonly name: string;
  readonly region: string;
  readonly account: string;
  /** Of the first HTTP API; undefined where the stack has none. */
  readonly apiUrl: string | undefined;
  readonly gatewayUrl: string;
  /** For people: which engine keeps the tables. */
  readonly engine: string;
  /** Credentials that may do everything, at the gateway. */
  readonly operator: Credentials;
  readonly outputs: Readonly<Record<string, string>>;
  readonly queues: ReadonlyMap<string, LocalQueue>;
  readonly tables: StackPlan["tables"];
  readonly buckets: StackPlan["buckets"];
  readonly secrets: readonly { readonly logicalId: string; readonly name: string; readonly arn: string }[];
  readonly functions: readonly LocalFunction[];
  /** For people: what the template holds and this machine does not run. */
  readonly notRun: readonly string[];
  readonly gateway: Gateway;
  readonly schedules: Schedules;
  /** Lets other functions of the account hold so many executions, for the saturation of an account. The result ends that. */
  occupyConcurrency: AccountConcurrency["occupy"];
  /** The template's alarms as they are at this moment. */
  alarms(): readonly AlarmState[];
  readonly alarmPlans: StackPlan["alarms"];
  /** Measures first what CloudWatch measures each minute by looking: the ages and depths of queues. */
  lookAtAlarms: Alarms["look"];
  /** What an alarm is evaluated by. */
  alarmValues: Alarms["values"];
  accessLog(): readonly AccessLogEntry[];
  /** How many requests of the HTTP API got which status. */
  statusCounts(): ReadonlyMap<number, number>;
  problems(): StackProblems;
  /**
   * Resolves when every queue that feeds a function is empty (in flight and delayed messages included), streams
   * are read to their end, and no function is at work.
   * @throws Error at the deadline, naming what is left
   */
  drained(options: DrainOptions): Promise<void>;
  /**
   * The functions of another assembly of this stack, with the resources that this one has: what they would be after an
   * update or a rollback.
   */
  functionsOf(assembly: string): readonly FunctionPlan[];
  /** Sets a secret's value (SecretString) by its name or ARN. */
  setSecret(nameOrArn: string, value: string): Promise<void>;
  /** A secret's value (SecretString) as it is now. @throws where there is none */
  secretValue(nameOrArn: string): string;
  close(): Promise<void>;
};
