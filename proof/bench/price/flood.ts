import { webhookKinds } from "../../../domain/event/events.ts";
import { prices } from "./prices.ts";

/** What a day of refused webhooks costs at most, in US dollars: each route gets all that its throttle lets through. */
export type FloodLine = {
  readonly requests: number;
  readonly apiDollars: number;
  /** Of Lambda's requests and the access log: each is refused by a receiver that runs for a few milliseconds. */
  readonly otherDollars: number;
};

const secondsADay = 86_400;
const bytesPerGigabyte = 2 ** 30;

/** @param requestsPerSecond of each route: beyond it API Gateway answers 429, which it does not bill */
export function floodOf(requestsPerSecond: number, accessLogBytes: number): FloodLine {
  const requests = webhookKinds.length * requestsPerSecond * secondsADay;
  return {
    requests,
    apiDollars: requests * prices.apiRequest,
    otherDollars:
      requests * (prices.lambdaRequest + (accessLogBytes / bytesPerGigabyte) * prices.logGigabyte),
  };
}
