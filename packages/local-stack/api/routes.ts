import type { RoutePlan, ThrottlePlan } from "../assembly/plan.ts";

/**
 * Finds the route of a request. Exact path segments win over `{parameters}`, which win over `{greedy+}`; then
 * the method wins over ANY; `$default` matches the rest.
 * Source: API Gateway developer guide, "Routing API requests".
 */
export function matchRoute(routes: readonly RoutePlan[], method: string, path: string) {
  const candidates = routes.flatMap((plan) => {
    const [wantedMethod = "", wantedPath] = plan.key.split(" ");
    if (wantedPath === undefined) return [{ plan, parameters: {}, rank: "9" }];
    if (wantedMethod !== method && wantedMethod !== "ANY") return [];
    const parameters = matchPath(wantedPath, path);
    if (parameters === undefined) return [];
    const rank = segments(wantedPath).map(segmentRank).join("") + (wantedMethod === "ANY" ? "5" : "4");
    return [{ plan, parameters, rank }];
  });
  const [first] = candidates.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return first;
}

function segmentRank(segment: string): string {
  if (!segment.startsWith("{")) return "1";
  return segment.endsWith("+}") ? "3" : "2";
}

function matchPath(wanted: string, path: string): Record<string, string> | undefined {
  const actual = segments(path);
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments(wanted).entries()) {
    const name = /^\{(\w+)(\+?)\}$/.exec(segment);
    const value = actual[index];
    if (value === undefined || (name !== null && value === "")) return undefined;
    if (name === null) {
      if (segment !== value) return undefined;
    } else if (name[2] === "+") {
      parameters[name[1] ?? ""] = actual.slice(index).join("/");
      return parameters;
    } else {
      parameters[name[1] ?? ""] = decode(value);
    }
  }
  return actual.length === segments(wanted).length ? parameters : undefined;
}

function segments(path: string): string[] {
  return path.split("/").slice(1);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
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
