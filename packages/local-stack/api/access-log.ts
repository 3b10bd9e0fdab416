/**
 * A line of an HTTP API's access log: its format with `$context.` names in it, of which those are filled in that are
 * known here. Any other becomes "-", as in AWS where there is no value.
 * Source: API Gateway developer guide, "Customize HTTP API access logs".
 */
export function accessLogLine(
  format: string,
  {
    route,
    status,
    time,
  }: { readonly route: string | undefined; readonly status: number; readonly time: number },
): string {
  const known: Readonly<Record<string, string | undefined>> = {
    "$context.routeKey": route,
    "$context.status": String(status),
    "$context.requestTimeEpoch": String(time),
  };
  return format.replace(/\$context\.[A-Za-z.]+/g, (name) => known[name] ?? "-");
}
