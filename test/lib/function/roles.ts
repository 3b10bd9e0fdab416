import { z } from "zod";
import { nameOf, type Resource } from "../synthesized.ts";

const oneOrMore = <Item extends z.ZodType>(item: Item) =>
  z.union([z.array(item), item.transform((only) => [only])]);
const statement = z.strictObject({
  Effect: z.literal("Allow"),
  Action: oneOrMore(z.string()),
  Resource: z.union([z.array(z.unknown()), z.unknown().transform((only) => [only])]),
  Condition: z.record(z.string(), z.unknown()).optional(),
});
/** A role in the template. */
export const role = z.object({
  AssumeRolePolicyDocument: z.unknown(),
  Policies: z.array(z.object({ PolicyDocument: z.object({ Statement: z.array(statement) }) })),
});

/** `action resource` for each pair that a role allows. */
export function allowedBy({ Properties }: Resource): string[] {
  const statements = role.parse(Properties).Policies.flatMap((policy) => policy.PolicyDocument.Statement);
  return statements.flatMap(({ Action, Resource: resources }) =>
    Action.flatMap((action) => resources.map((resource) => `${action} ${readable(resource)}`)),
  );
}

/** A resource of the template: its name without hash, and the suffix. */
export function readable(resource: unknown): string {
  if (typeof resource === "string") return resource;
  const ref = z.object({ Ref: z.string() }).safeParse(resource);
  if (ref.success) return nameOf(ref.data.Ref);
  const attribute = z.object({ "Fn::GetAtt": z.tuple([z.string(), z.string()]) }).safeParse(resource);
  if (attribute.success) {
    const [id, name] = attribute.data["Fn::GetAtt"];
    return name === "Arn" ? nameOf(id) : `${nameOf(id)}.${name}`;
  }
  const join = z.object({ "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]) }).parse(resource);
  return join["Fn::Join"][1].map(readable).join("");
}
