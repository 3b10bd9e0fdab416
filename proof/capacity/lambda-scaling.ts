import { readQuotas } from "./quotas.ts";

const { queueSourceBatches, inFlight } = readQuotas().quotas;

/**
 * How Lambda scales pollers of a standard queue, without provisioned pollers. Source: Lambda developer guide,
 * "Configuring scaling behavior for SQS event source mappings".
 */
export const queuePolling = { first: 5, morePerMinute: 300, most: queueSourceBatches.value } as const;

/** SQS: messages in flight of a standard queue. */
export const mostInFlight = inFlight.value;

/** SQS: the longest delay of a message. */
export const longestDelayInSeconds = 900;
