/** Options of a stack on this machine. */

import type { AlarmNotice, AlarmState } from "../alarms/alarms.ts";
import type { Exchange } from "../api/http-api.ts";
import type { DynamoDbEngine, RunningDynamoDb } from "../engines/dynamodb.ts";
import type { Delay } from "../lambda/delay.ts";

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
