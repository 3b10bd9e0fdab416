import { z } from "zod";
import type { Resource } from "../stage-template.ts";

const stage = z.object({ AccessLogSettings: z.object({ Format: z.string() }) });

/** About how long the API's line for a request is: values are as long as the names that stand for them. */
export function accessLogBytesOf(resources: readonly Resource[]): number {
  const found = resources.find(({ type }) => type === "AWS::ApiGatewayV2::Stage");
  return found === undefined ? 0 : stage.parse(found.properties).AccessLogSettings.Format.length;
}
