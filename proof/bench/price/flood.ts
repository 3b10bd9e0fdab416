import { webhookKinds } from "../../../domain/event/events.ts";
import { prices } from "./prices.ts";

/** Maximum costs of a day of refused webhooks in US dollars: each route gets all that its throttle allows. */
export type FloodLine = {
  readonly requests: number;
  readonly apiDollars: number;
  /**
   * Lambda's requests and the access log: each webhook is refused by a receiver that runs for a few
   * milliseconds.
   */
  readonly otherDollars: number;
};

const secondsADay = 86_400;
const bytesPerGigabyte = 2 ** 30;

/** @param requestsPerSecond limit of each route; beyond it API Gateway answers 429, which is not billed */
export function floodOf(requestsPerSecond: number, accessLogBytes: number): FloodLine {
  const requests = webhookKinds.length * requestsPerSecond * secondsADay;
  return {
    requests,
    apiDollars: requests * prices.apiRequest,
    otherDollars:
      requests * (prices.lambdaRequest + (accessLogBytes / bytesPerGigabyte) * prices.logGigabyte),
  };
}
