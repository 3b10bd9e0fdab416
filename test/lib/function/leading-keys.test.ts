import { expect, it } from "vitest";
import { z } from "zod";
import { breakerKey, callWindowKey, refusalNoteKey } from "../../../adapters/dynamodb/keys.ts";
import { productionSettings, synthesized } from "../synthesized.ts";

const stack = synthesized(productionSettings);
const statements = z.object({
  Policies: z.array(
    z.object({
      PolicyDocument: z.object({
        Statement: z.array(
          z.object({ Action: z.union([z.string(), z.array(z.string())]), Condition: z.unknown().optional() }),
        ),
      }),
    }),
  ),
});

it.each(["RefreshToken", "RegisterWebhooks"])(
  "%s reaches no record of anybody: only what is known of the provider",
  (name) => {
    const { Policies } = statements.parse(stack.withId(`${name}Role`).Properties);
    const onItems = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement).filter(({ Action }) =>
      [Action].flat().some((action) => action.startsWith("dynamodb:")),
    );
    expect(onItems.map(({ Condition }) => Condition)).toEqual([
      { "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": ["PROVIDER"] } },
    ]);
    expect([callWindowKey(0).pk, breakerKey.pk, refusalNoteKey.pk]).toEqual(Array(3).fill("PROVIDER"));
  },
);
