import { z } from "zod";
import { type CrossCheck, crossChecks, secretStaysBehind } from "./cross-checks.ts";
import { mappingSchema } from "./mapping-schema.ts";
import { type Stage, stageSchema } from "./stage-schema.ts";
import { webhooksSchema } from "./webhooks-schema.ts";

/** The part of a stage's settings that the mapping needs. Other keys are ignored. */
export const mappingPartSchema = z
  .looseObject({ mapping: mappingSchema, webhooks: webhooksSchema })
  .refine(secretStaysBehind.holds, { path: secretStaysBehind.path, error: () => secretStaysBehind.error });

const acrossSettings = { acrossSettings: true };

/** Whether an issue invalidates what a check reads. Findings of other checks don't. */
function isInTheWay(issue: z.core.$ZodRawIssue, reads: CrossCheck["reads"]): boolean {
  if (issue.code === "custom" && issue.params === acrossSettings) return false;
  const [part] = issue.path ?? [];
  return part === undefined ? issue.code === "invalid_type" : reads.some((read) => read === part);
}

/** Schema of a stage's settings with defaults. A check across settings runs if the parts that it reads are valid. */
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

/** Base address of the provider environment that the stage uses. */
export function selectedBaseUrl(provider: ProviderSettings): string {
  return provider.baseUrls[provider.environment];
}
