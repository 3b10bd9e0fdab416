import { expect, it } from "vitest";
import { breakerKey, callWindowKey, refusalNoteKey } from "../../../adapters/dynamodb/keys.ts";
import { productionSettings, synthesized } from "../synthesized.ts";
import { role } from "./roles.ts";

const stack = synthesized(productionSettings);
it.each(["RefreshToken", "RegisterWebhooks"])(
  "%s reaches no record of anybody: only what is known of the provider",
  (name) => {
    const { Policies } = role.parse(stack.withId(`${name}Role`).Properties);
    const onItems = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement).filter(({ Action }) =>
      Action.some((action) => action.startsWith("dynamodb:")),
    );
    expect(onItems.map(({ Condition }) => Condition)).toEqual([
      { "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": ["PROVIDER"] } },
    ]);
    expect([callWindowKey(0).pk, breakerKey.pk, refusalNoteKey.pk]).toEqual(Array(3).fill("PROVIDER"));
  },
);
