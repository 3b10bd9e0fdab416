/** A stack on this machine: its options, state and controls. */

import type { AlarmNotice, AlarmState, Alarms } from "../alarms/alarms.ts";
import type { AccessLogEntry, Exchange } from "../api/http-api.ts";
import type { FunctionPlan, StackPlan } from "../assembly/plan.ts";
import type { DynamoDbEngine, RunningDynamoDb } from "../engines/dynamodb.ts";
import type { Denial, Gateway } from "../gateway/types.ts";
import type { AccountConcurrency } from "../lambda/account-concurrency.ts";
import type { Delay } from "../lambda/delay.ts";
import type { Credentials } from "../lambda/environment.ts";
import type { HostedFunction } from "../lambda/hosted-function.ts";
import type { Schedules } from "../schedules/schedules.ts";
import type { DrainOptions } from "../sources/drained.ts";

export type StackOptions = {
  readonly assembly: string;
  /** Required if the assembly holds several stacks. */
  readonly stackName?: string | undefined;
  /** Template parameters, which override the defaults. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly engine?: DynamoDbEngine;
  /** A table engine that was started earlier; its starter closes it. */
  readonly tables?: Promise<RunningDynamoDb>;
  /** Directory in which tables, queues, objects, secrets and stream positions persist between starts. */
  readonly keep?: string | undefined;
  /** Port; 0 or absent: any free port. */
  readonly apiPort?: number;
  readonly gatewayPort?: number;
  /** Directory of the functions' log files; absent: in memory only. */
  readonly logsDir?: string | undefined;
  readonly onProgress?: (text: string) => void;
  readonly onAnswered?: (exchange: Exchange) => void;
  readonly onAlarm?: (alarm: AlarmState) => void;
  readonly onNotice?: (notice: AlarmNotice) => void;
  /** Clock of the alarms, in milliseconds since 1970; absent: this machine's. */
  readonly alarmClock?: (() => number) | undefined;
  /**
   * Maximum processes for each function without reserved concurrency, 4 by default. Further invocations
   * queue, where Lambda would scale.
   */
  readonly maximumProcesses?: number;
  /** Concurrency of the account, 1000 by default; further invocations are throttled. */
  readonly accountConcurrency?: number;
  /**
   * Retention of stream records, 24 hours by default. A stage that divides its durations divides this too.
   */
  readonly streamRetentionSeconds?: number | undefined;
  /**
   * Deduplication window of FIFO queues, five minutes by default. A stage that divides its durations divides
   * this too.
   */
  readonly deduplicationSeconds?: number | undefined;
  /** Duration of long polls of up to four seconds at an empty queue; absent: as requested. Tests shorten it. */
  readonly shortPollMs?: number | undefined;
  /** Counts the capacity units of table calls; see `gateway.capacity()`. */
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

export type LocalFunction = Pick<FunctionPlan, "logicalId" | "name" | "arn" | "memoryMb"> &
  Omit<HostedFunction, "plan" | "concurrency" | "initErrors" | "close"> & {
    log(): readonly string[];
    logBytes(): number;
    /** Adds a line to its log as if the function had written it. */
    addToLog(line: string): void;
  };

export type StackProblems = {
  /** Calls that policies denied, including writes to log groups. */
  readonly denials: readonly Denial[];
  /** Functions whose handler cannot be imported, with the error. */
  readonly initErrors: readonly string[];
  /** Errors of event sources, failure destinations and log files. */
  readonly failures: readonly string[];
};

export type LocalStack = {
  readonly name: string;
  readonly region: string;
  readonly account: string;
  /** URL of the first HTTP API; undefined if the stack has none. */
  readonly apiUrl: string | undefined;
  readonly gatewayUrl: string;
  /** Name of the table engine, for printing. */
  readonly engine: string;
  readonly operator: Credentials;
  readonly outputs: Readonly<Record<string, string>>;
  readonly queues: ReadonlyMap<string, LocalQueue>;
  readonly tables: StackPlan["tables"];
  readonly buckets: StackPlan["buckets"];
  readonly secrets: readonly { readonly logicalId: string; readonly name: string; readonly arn: string }[];
  readonly functions: readonly LocalFunction[];
  /** Resources that this machine does not run, for printing. */
  readonly notRun: readonly string[];
  readonly gateway: Gateway;
  readonly schedules: Schedules;
  /**
   * Simulates a saturated account: occupies this many executions for other functions. Returns a function that
   * releases them.
   */
  occupyConcurrency: AccountConcurrency["occupy"];
  alarms(): readonly AlarmState[];
  readonly alarmPlans: StackPlan["alarms"];
  /** Polls the gauges (ages and depths of queues) before evaluating the alarms. */
  refreshAlarms: Alarms["refresh"];
  alarmValues: Alarms["values"];
  accessLog(): readonly AccessLogEntry[];
  statusCounts(): ReadonlyMap<number, number>;
  problems(): StackProblems;
  /**
   * Resolves when every queue that feeds a function is empty (including in-flight and delayed messages),
   * streams are fully read, and no function is running.
   * @throws Error at the deadline, naming the remaining work
   */
  drained(options: DrainOptions): Promise<void>;
  /**
   * Functions of another assembly of this stack, with this stack's resources: the code after an update or a
   * rollback.
   */
  functionsOf(assembly: string): readonly FunctionPlan[];
  setSecret(nameOrArn: string, value: string): Promise<void>;
  /**
   * Current value (SecretString) of a secret.
   * @throws if there is none
   */
  secretValue(nameOrArn: string): string;
  close(): Promise<void>;
};
