import { z } from "zod";
import type { Secret } from "./secret-versions.ts";

const keptSecrets = z.array(
  z.object({
    arn: z.string(),
    name: z.string(),
    created: z.coerce.date(),
    versions: z.array(
      z.object({
        id: z.string(),
        value: z.string(),
        created: z.coerce.date(),
        stages: z.array(z.string()),
      }),
    ),
  }),
);

/** Secrets as they are kept in a file. */
export function secretsToKeep(secrets: readonly Secret[]): z.input<typeof keptSecrets> {
  return secrets.map(({ versions, ...secret }) => ({
    ...secret,
    versions: [...versions.values()].map(({ stages, ...version }) => ({ ...version, stages: [...stages] })),
  }));
}

/** @param value undefined where nothing was kept yet */
export function loadSecrets(value: unknown): readonly Secret[] {
  return keptSecrets.parse(value ?? []).map(({ versions, ...secret }) => ({
    ...secret,
    versions: new Map(
      versions.map(({ stages, ...version }) => [version.id, { ...version, stages: new Set(stages) }]),
    ),
  }));
}
