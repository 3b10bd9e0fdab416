import type { Command } from "commander";
import { invokeFunction } from "../../../adapters/aws/function-invoker.ts";
import { parseRefreshOutcome, type RefreshOutcome } from "../../../domain/fetch/refresh-outcomes.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { lifetimeText } from "../status/status-text.ts";
import { tokenStatus } from "../status/token-status.ts";

type Flags = { readonly now?: boolean };

export function addTo(group: Command): void {
  addCommand<Flags>(group, {
    name: "refresh",
    summary: "Lets the refresher look at the token now, as its schedule does, and prints the result.",
    examples: [
      "npx income-events token refresh",
      "npx income-events token refresh --now    also where it is not near its end",
    ],
    run: refreshToken,
  }).option("--now", "get a new one also where the present one is not near its end");
}

export async function refreshToken(operation: Operation, { now = false }: Flags): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const { stage } = deployment;
  const name = deployment.output("RefreshFunctionName");
  const outcome = await audited(
    operation,
    { act: "token", target: "refresh" },
    async () => parseRefreshOutcome(await invokeFunction(clients.lambda, name, { now })),
    (each) => (each === "refreshed" ? 1 : 0),
  );
  const words = textOf(outcome);
  if (!words.isWell) throw CommandError.failed(words.text);
  const token = await tokenStatus(deployment, clients);
  const expiresAt = token.isSet ? token.expiresAt : undefined;
  terminal.result(
    { stage, outcome, ...(expiresAt !== undefined && { expiresAt }) },
    `${words.text} It ${lifetimeText(expiresAt, new Date())}.`,
  );
}

const setNewOne = "Set a new one: npx income-events token set < token.txt";

function textOf(outcome: RefreshOutcome): { readonly isWell: boolean; readonly text: string } {
  switch (outcome) {
    case "refreshed":
      return { isWell: true, text: "The token was refreshed." };
    case "kept":
      return {
        isWell: true,
        text: "The token was kept, for it is not near its end; --now refreshes it all the same.",
      };
    case "unchanged":
      return { isWell: true, text: "The provider gave no newer token; the present one was kept." };
    case "unproven":
      return {
        isWell: true,
        text:
          "The provider gave a new token, and failed when it was tried. It is tried again in each run, and takes over " +
          "when half of the time between refresh and end is left. The present one was kept.",
      };
    case "paced":
      return {
        isWell: true,
        text: "The present token was kept, for a refresh was asked for less than a minute ago. Try again in a minute.",
      };
    case "overtaken":
      return { isWell: true, text: "The token was set by an operator or another run meanwhile." };
    case "discarded":
      return {
        isWell: false,
        text: `The provider gave a new token and refused it at its first call; the present one stays. ${setNewOne}`,
      };
    case "refused":
      return { isWell: false, text: `The provider refuses to refresh the token. ${setNewOne}` };
    case "missing":
      return { isWell: false, text: "No token is set. Set it: npx income-events token set < token.txt" };
  }
}
