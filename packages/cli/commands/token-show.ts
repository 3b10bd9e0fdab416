import type { Command } from "commander";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { fromNow } from "../core/spans.ts";
import { tableText } from "../core/table.ts";
import { refusalText } from "../status/status-text.ts";
import { type TokenStatus, tokenStatus } from "../status/token-status.ts";

export function addTokenShow(group: Command): void {
  addCommand(
    group,
    {
      name: "show",
      summary: "Shows the provider's token by its claims and its remaining life; never the token.",
      examples: ["npx income-events token show", "npx income-events token show --json    for programs"],
    },
    show,
  );
}

async function show({ deployment, clients, terminal }: Operation): Promise<void> {
  const { stage } = deployment;
  const token = await tokenStatus(deployment, clients);
  if (!token.isSet) {
    throw new CommandError(
      "failed",
      `No token of the stage ${stage} is set. Set it: npx income-events token set < token.txt`,
    );
  }
  terminal.result({ stage, ...token }, tableText(["token", stage], rowsOf(token, new Date())));
}

function rowsOf(
  { issuedAt, expiresAt, storedAt, storedBy, refusal, claims }: Extract<TokenStatus, { isSet: true }>,
  now: Date,
): readonly (readonly string[])[] {
  const timestamp = (time: string | undefined) =>
    time === undefined ? "it does not say" : `${time} (${fromNow(new Date(time), now)})`;
  const by = storedBy === "refresh" ? "a refresh" : "an operator";
  return [
    ["issued", timestamp(issuedAt)],
    ["ends", timestamp(expiresAt)],
    ["stored", `${timestamp(storedAt)} by ${by}`],
    ["refused", refusal === "none" ? "no" : refusalText(refusal)],
    ...Object.entries(claims ?? {}).map(([name, value]) => [`claim ${name}`, JSON.stringify(value) ?? ""]),
  ];
}
