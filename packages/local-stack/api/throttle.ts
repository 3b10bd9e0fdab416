import type { ThrottlePlan } from "../assembly/plan.ts";

/** Whether a request of a route is let through now. */
export type Throttle = (routeKey: string) => boolean;

/**
 * Throttles each route by itself with a token bucket: `burst` requests at once, filled again at `ratePerSecond`.
 * Source: API Gateway developer guide, "Throttle requests to your HTTP APIs".
 * @param now milliseconds since 1970
 */
export function createThrottle({ routes, ...byDefault }: ThrottlePlan, now: () => number): Throttle {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return (routeKey) => {
    const time = now();
    const { ratePerSecond, burst } = routes?.[routeKey] ?? byDefault;
    const bucket = buckets.get(routeKey) ?? { tokens: burst, at: time };
    buckets.set(routeKey, bucket);
    bucket.tokens = Math.min(burst, bucket.tokens + ((time - bucket.at) / 1000) * ratePerSecond);
    bucket.at = time;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  };
}
