import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { mapPayload, mappedFields } from "../../../domain/event/mapping.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { parseMappingPart, SettingsError } from "../../../lib/settings/settings.ts";
import { must, type Target } from "../target.ts";
import { failsAsSaid } from "./failing.ts";
import { splitAtEmptyLine } from "./split.ts";

/** An expression, an empty line, and the body of a webhook that it is tried on. */
function check(input: Uint8Array): void {
  const { head: expression, rest } = splitAtEmptyLine(input);
  const mapping = mappingWith(expression);
  if (mapping === undefined) return;
  const body = parsed(Buffer.from(rest).toString("utf8"));
  const facts = failsAsSaid(() =>
    mapPayload({ ...defaultMapping.accounts, ...mapping }, body, jmespathSearch),
  );
  if (facts === undefined) return;
  must(facts.accountId !== undefined, "an event of an account has none");
  for (const field of mappedFields) {
    const value = facts[field];
    must(value === undefined || typeof value !== "string" || value.length <= 200, `${field} is too long`);
  }
}

/** As a stage's settings are evaluated. */
function mappingWith(expression: string) {
  try {
    const settings = { mapping: { accounts: { accountId: expression, ids: "any", time: expression } } };
    return parseMappingPart(settings, "fuzz").accounts;
  } catch (error) {
    must(error instanceof SettingsError, `an expression is refused with ${String(error)}`);
    must(error.message.includes("mapping.accounts."), "a refused expression is not named");
    return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const body = '{"event":"connect_account","account_id":"a","list":[1,{"b":"c"}],"connected":true}';

export const target: Target = {
  promise: "an expression is refused by its setting's name, or gives an event or a reason",
  seeds: [
    `account_id || data.id\n\n${body}`,
    `list[*].b | [0]\n\n${body}`,
    `list[?b=='c'].b | [0]\n\n${body}`,
    `to_string(length(keys(@)))\n\n${body}`,
    `{a: list[1:3:2], "b c": \`{"x":1}\`}.a[0]\n\n${body}`,
    `sort_by(list, &b)[-1].b\n\n${body}`,
    `not_null(join(',', values(@)), 'x')\n\n${body}`,
  ],
  words: [
    "toString",
    "__proto__",
    "constructor",
    "[?",
    "[*]",
    "&&",
    "||",
    "&",
    "contains(",
    "merge(",
    "map(&",
    "`1`",
  ],
  maxBytes: 1_024,
  check,
};
