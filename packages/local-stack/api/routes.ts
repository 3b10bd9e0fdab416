import type { RoutePlan, ThrottlePlan } from "../assembly/plan.ts";

/**
 * Finds the route of a request: its method and path, then ANY and its path, then `$default`.
 * Source: API Gateway developer guide, "Routing API requests".
 */
export function matchRoute(
  routes: readonly RoutePlan[],
  method: string,
  path: string,
): RoutePlan | undefined {
  const keys = [`${method} ${path}`, `ANY ${path}`, "$default"];
  return keys.map((wanted) => routes.find(({ key }) => key === wanted)).find((found) => found !== undefined);
}

export type Throttle = (routeKey: string) => boolean;

/**
 * Creates a token bucket for each route: up to `burst` requests at once, refilled at `ratePerSecond`.
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
