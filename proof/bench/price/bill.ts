import { z } from "zod";
import { webhookKinds } from "../../../domain/event/events.ts";
import { documentedSettings, type Resource } from "../../../scripts/documents/stage-template.ts";
import { type Implementation, type Part, sumOfParts } from "../implementations.ts";
import type { Counts } from "./counts.ts";
import { prices } from "./prices.ts";

/** Values that one machine cannot measure. */
const assumptions = {
  /** Duration of a call to a service in the region. */
  awsMillis: 5,
  providerMillis: 200,
  /**
   * Memory that comes with one full vCPU. Source: Lambda developer guide, "Configure Lambda function memory".
   */
  wholeProcessorMb: 1_769,
  /** The lines START, END and REPORT that Lambda writes for each invocation. */
  platformLogBytes: 350,
} as const;

export type Bill = ReadonlyMap<string, number>;

const million = 1_000_000;
const bytesPerGigabyte = 2 ** 30;

/**
 * Our implementation disables Lambda's own lines (`logs.invocations`), as the floor does; the others keep the
 * default.
 */
const platformLogBytes: Readonly<Record<Implementation, number>> = {
  ours: 0,
  floor: 0,
  plain: assumptions.platformLogBytes,
  powertools: assumptions.platformLogBytes,
};

/** Costs of a million distinct events that arrive as the counted ones did. */
export function billOf(counts: Counts, implementation: Implementation, accessLogBytes: number): Bill {
  const invocations = sumOfParts((part) => counts[`${part}Invocations`]);
  const logBytes =
    counts.logBytes + invocations * platformLogBytes[implementation] + counts.deliveries * accessLogBytes;
  const { functions } = documentedSettings();
  const gigabyteSeconds = sumOfParts((part) => (secondsOf(counts, part) * functions[part].memoryMb) / 1_024);
  const standardRequests = counts.sqsRequests - counts.fifoRequests;
  const lines = {
    "API Gateway, requests": counts.deliveries * prices.apiRequest,
    "Lambda, requests": invocations * prices.lambdaRequest,
    "Lambda, time": gigabyteSeconds * prices.lambdaGigabyteSecond,
    "SQS, requests": standardRequests * prices.sqsRequest + counts.fifoRequests * prices.sqsFifoRequest,
    "DynamoDB, writes": counts.writeUnits * prices.writeUnit,
    "DynamoDB, reads": counts.readUnits * prices.readUnit,
    "S3, requests": counts.objectPuts * prices.objectPut + counts.objectGets * prices.objectGet,
    "CloudWatch, logs": (logBytes / bytesPerGigabyte) * prices.logGigabyte,
  };
  return new Map(Object.entries(lines).map(([name, price]) => [name, (price / counts.events) * million]));
}

export function totalOf(bill: Bill): number {
  return [...bill.values()].reduce((sum, line) => sum + line, 0);
}

/**
 * Billed duration: CPU time, scaled by the share of a vCPU that the memory brings, plus waits in sequence.
 */
export function secondsOf(counts: Counts, part: Part): number {
  const { wholeProcessorMb, awsMillis, providerMillis } = assumptions;
  const share = Math.min(1, documentedSettings().functions[part].memoryMb / wholeProcessorMb);
  const providerWaits = part === "fetch" ? counts.providerWaits : 0;
  const waitMillis = counts[`${part}Waits`] * awsMillis + providerWaits * providerMillis;
  return counts[`${part}CpuMicros`] / million / share + waitMillis / 1_000;
}

/**
 * Maximum costs of a day of refused webhooks: each route gets all that its throttle allows. A receiver that
 * runs for a few milliseconds refuses each.
 * @param requestsPerSecond limit of each route; beyond it API Gateway answers 429, which is not billed
 */
export function floodOf(requestsPerSecond: number, accessLogBytes: number) {
  const requests = webhookKinds.length * requestsPerSecond * 86_400;
  const log = (accessLogBytes / bytesPerGigabyte) * prices.logGigabyte;
  return {
    requests,
    apiDollars: requests * prices.apiRequest,
    /** Lambda's requests and the access log. */
    otherDollars: requests * (prices.lambdaRequest + log),
  };
}

const stage = z.object({ AccessLogSettings: z.object({ Format: z.string() }) });

/** Approximate length of the API's log line for a request: assumes values as long as their names. */
export function accessLogBytesOf(resources: readonly Resource[]): number {
  const found = resources.find(({ type }) => type === "AWS::ApiGatewayV2::Stage");
  return found === undefined ? 0 : stage.parse(found.properties).AccessLogSettings.Format.length;
}
