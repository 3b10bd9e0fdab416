import { isDeepStrictEqual } from "node:util";
import type { Template, TemplateResource } from "../assembly/template.ts";

/** What a function is served with anew while all else runs on. */
const replaceable: ReadonlySet<string> = new Set(["Code", "Environment"]);

/**
 * The functions whose code or environment is another.
 * @returns logical ids; undefined: something else has changed, too, which takes a new start
 */
export function changedFunctions(before: Template, after: Template): readonly string[] | undefined {
  if (!isDeepStrictEqual(withoutCode(before), withoutCode(after))) return undefined;
  return Object.keys(after.Resources).filter(
    (id) => !isDeepStrictEqual(before.Resources[id], after.Resources[id]),
  );
}

function withoutCode({ Resources, ...others }: Template): unknown {
  const resources = Object.entries(Resources).map(([id, resource]) => [id, rest(resource)]);
  return { ...others, Resources: Object.fromEntries(resources) };
}

function rest(resource: TemplateResource): TemplateResource {
  if (resource.Type !== "AWS::Lambda::Function") return resource;
  const kept = Object.entries(resource.Properties).filter(([name]) => !replaceable.has(name));
  return { ...resource, Properties: Object.fromEntries(kept) };
}
