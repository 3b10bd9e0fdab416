import { idlePolling } from "../bench/price.ts";

/** What can't be measured on one machine; documents print it. */
export const assumptions = {
  /** A call to a service within the region, in milliseconds. */
  awsMillis: 5,
  /** A call to the provider. */
  providerMillis: 200,
  /** So much memory comes with a whole processor. Source: Lambda developer guide, "Configure Lambda function memory". */
  wholeProcessorMb: 1_769,
  /** The lines START, END and REPORT that Lambda itself writes for each invocation. */
  platformLogBytes: 350,
  /** Of each queue's event source at rest. */
  pollersPerQueue: idlePolling.pollers,
  /** Of one long poll, the longest that SQS offers. */
  pollSeconds: idlePolling.pollSeconds,
} as const;
