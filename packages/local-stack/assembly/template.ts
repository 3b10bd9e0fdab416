import { z } from "zod";

const resourceSchema = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  Condition: z.string().optional(),
});

const templateSchema = z.object({
  Resources: z.record(z.string(), resourceSchema),
  Parameters: z
    .record(
      z.string(),
      z.object({
        Type: z.string(),
        Default: z.union([z.string(), z.number(), z.boolean()]).optional(),
      }),
    )
    .default({}),
  Conditions: z.record(z.string(), z.unknown()).default({}),
  Outputs: z
    .record(
      z.string(),
      z.object({
        Value: z.unknown(),
        Condition: z.string().optional(),
        Export: z.object({ Name: z.unknown() }).optional(),
      }),
    )
    .default({}),
});

/** A resource of the template, with intrinsic functions unresolved. */
export type TemplateResource = z.infer<typeof resourceSchema>;
export type Template = z.infer<typeof templateSchema>;

/**
 * Parses the parts of a CloudFormation template that affect the local system.
 * @throws ZodError if it is not a template
 */
export function parseTemplate(value: unknown): Template {
  return templateSchema.parse(value);
}
