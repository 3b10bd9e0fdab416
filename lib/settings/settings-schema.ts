import { z } from "zod";
import { type CrossCheck, crossChecks, secretStaysBehind } from "./cross-checks.ts";
import { mappingSchema } from "./mapping-schema.ts";
import { type Stage, stageSchema } from "./stage-schema.ts";
import { webhooksSchema } from "./webhooks-schema.ts";

/** What the mapping needs of a stage's settings, whatever else is in them. */
export const mappingPartSchema = z
  .looseObject({ mapping: mappingSchema, webhooks: webhooksSchema })
  .refine(secretStaysBehind.holds, { path: secretStaysBehind.path, error: () => secretStaysBehind.error });

const acrossSettings = { acrossSettings: true };

/** Whether an issue leaves a check nothing sound to read; another check's finding does not. */
function isInTheWay(issue: z.core.$ZodRawIssue, reads: CrossCheck["reads"]): boolean {
  if (issue.code === "custom" && issue.params === acrossSettings) return false;
  const [part] = issue.path ?? [];
  return part === undefined ? issue.code === "invalid_type" : reads.some((read) => read === part);
}

/** The schema of a stage's settings, defaults merged; a check across settings runs once its parts are in order. */
export const settingsSchema = crossChecks.reduce(
  (schema, { reads, holds, path, error }) =>
    schema.refine(holds, {
      path: [...path],
      error: () => error,
      params: acrossSettings,
      when: ({ issues }) => !issues.some((issue) => isInTheWay(issue, reads)),
    }),
  stageSchema,
);

export type Settings = Stage;
export type ProviderSettings = Settings["provider"];

/** The base address of the environment that the stage uses. */
export function selectedBaseUrl(provider: ProviderSettings): string {
  return provider.baseUrls[provider.environment];
}
