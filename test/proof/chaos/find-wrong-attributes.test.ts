import { expect, it } from "vitest";
import {
  type AttributesEvidence,
  findWrongAttributes,
} from "../../../proof/chaos/audit/find-wrong-attributes.ts";

const state = (user: string, loanId: string, version: number) => ({
  ...{ pk: `USER#${user}`, sk: "STATE" },
  state: { attributes: { values: { loanId }, version } },
});
const message = (subject: string, sequence: number, loanId?: string, attributesSequence = 2) => ({
  ...{ id: `${subject}.${sequence}`, subject, sequence: String(sequence) },
  data:
    loanId === undefined ? {} : { attributes: { loanId }, attributesSequence: String(attributesSequence) },
});
const ofUser = message("user/u", 3, "L-2");
const known = {
  items: [state("u", "L-2", 2), state("v", "L-8", 1)],
  loans: new Map([["u", "L-2"]]),
  owners: new Map([
    ["a", "u"],
    ["b", "v"],
  ]),
  erased: new Set<string>(),
};

type Case = readonly [
  name: string,
  messages: readonly object[],
  expected: readonly string[],
  evidence: Partial<AttributesEvidence>,
];

it.each<Case>([
  [
    "nothing where all is known",
    [message("account/a", 7), message("account/a", 8, "L-1", 1), ofUser],
    [],
    {},
  ],
  ["another user's attributes", [message("account/b", 7, "L-2", 0)], ["L-2 was sent with several users"], {}],
  [
    "two values of one version",
    [message("account/a", 7, "L-1"), ofUser],
    ["version 2 of user/u was sent with several loan ids"],
    {},
  ],
  [
    "attributes that were never stored",
    [message("account/a", 7, "L-3", 3)],
    ["account/a.7 has attributes that its user never had"],
    {},
  ],
  [
    "a last message with older attributes",
    [ofUser, message("user/u", 4, "L-1", 1)],
    ["user/u.4 is its user's last message and lacks the attributes"],
    {},
  ],
  ["lost attributes", [], ["user/v lacks the attribute L-9"], { loans: new Map([["v", "L-9"]]) }],
  ["no attribute of an erased user", [message("account/b", 7, "L-2", 1)], [], { erased: new Set(["v"]) }],
])("finds %s", (_, messages, expected, evidence) => {
  const lines = messages.map((each) => ({ subscriber: "everything", at: 1, body: JSON.stringify(each) }));
  expect(findWrongAttributes({ ...known, ...evidence, messages: lines })).toEqual(expected);
});
