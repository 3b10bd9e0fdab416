import type { Command } from "commander";
import { invokeFunction } from "../../../adapters/aws/client.ts";
import { isJwt, readTokenLifetime } from "../../../adapters/secrets/token-claims.ts";
import { proposeByHand, setToken, tokenSecret } from "../../../adapters/secrets/token-secret.ts";
import { FailureError } from "../../../domain/core/failures.ts";
import {
  hasTokenForm,
  maxTokenBytes,
  parseRefreshOutcome,
  type RefreshOutcome,
} from "../../../domain/fetch/token-lifetime.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { lifetimeText } from "../status/status-text.ts";
import { tokenStatus } from "../status/token-status.ts";

type Flags = { readonly any?: boolean; readonly force?: boolean };

export function addTo(program: Command): void {
  const group = program.command("token").description("Sets and refreshes the provider's token.");
  addCommand<Flags>(group, {
    name: "set",
    summary:
      "Sets the provider's token from standard input. Tests it with one call first; if the provider refuses it, the current token stays.",
    examples: [
      "npx income-events token set < token.txt",
      "pass show provider/token | npx income-events token set --stage prod --outputs outputs.json",
      "npx income-events token set --force < token.txt    without the test, while the provider is down",
    ],
    run: setGivenToken,
  })
    .option("--any", "also accept an expired JWT, or a token that is not a JWT")
    .option("--force", "do not test the token, for example while the provider is down");
  addCommand<RefreshFlags>(group, {
    name: "refresh",
    summary: "Runs the token refresher now, as its schedule does, and prints the result.",
    examples: [
      "npx income-events token refresh",
      "npx income-events token refresh --now    even if it is not close to expiry",
    ],
    run: refreshToken,
  }).option("--now", "refresh even if the current token is not close to expiry");
}

export async function setGivenToken(
  operation: Operation,
  { any = false, force = false }: Flags,
): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const token = (await terminal.readInput(maxTokenBytes)).trim();
  const expiresAt = check(token, any, new Date());
  const secret = deployment.output("TokenSecretArn");
  const apply = () => (force ? setToken(clients.secretsManager, secret, token) : setProven(token, operation));
  await audited(operation, { act: "token", target: force ? "set untried" : "set" }, apply, 1);
  const { stage } = deployment;
  terminal.result(
    { stage, tried: !force, ...(expiresAt && { expiresAt }) },
    `${force ? "" : "The provider takes this token. "}The token of the stage ${stage} is set. ` +
      (expiresAt === undefined ? "It has no end." : `It ends at ${expiresAt} unless it is refreshed.`),
  );
}

/**
 * Has the refresher try the token with one call, which only it may make, and store it if it is accepted.
 * @throws CommandError with the provider's answer; the current token is unchanged
 */
async function setProven(
  token: string,
  { deployment: { output }, clients: { lambda, secretsManager } }: Operation,
): Promise<void> {
  const secret = output("TokenSecretArn");
  const versionId = await proposeByHand(secretsManager, secret, token);
  const proving = invokeFunction(lambda, output("RefreshFunctionName"), { prove: versionId });
  const outcome = await proving.then(parseRefreshOutcome).catch(async (error: unknown) => {
    await tokenSecret(secretsManager, secret).discard(versionId);
    if (!(error instanceof FailureError)) throw error;
    throw CommandError.failed(
      `The token could not be tested: ${error.message}. The current one stays. To set it without a test: npx income-events token set --force < token.txt`,
    );
  });
  if (outcome === "refreshed") return;
  throw CommandError.failed(
    outcome === "discarded"
      ? "The provider refuses this token: it answered 401. The current one stays. Get a new one, then run: npx income-events token set < token.txt"
      : "Another run changed the token meanwhile. See the current one: npx income-events status --section token",
  );
}

/** @returns when the token expires, if it says so. @throws CommandError, which never quotes the token */
function check(token: string, any: boolean, now: Date): string | undefined {
  if (token === "")
    throw CommandError.usage("The standard input is empty. Run: npx income-events token set < token.txt");
  if (!hasTokenForm(token))
    throw CommandError.usage(
      'The standard input holds more than one word. Give the token alone, without "Bearer" and on one line.',
    );
  if (!any && !isJwt(token))
    throw CommandError.usage("This is not a JWT. If the provider's tokens are not JWTs, add --any.");
  const { expiresAt = Number.NaN } = readTokenLifetime(token);
  const end = new Date(expiresAt * 1000);
  // Also if the time does not exist in the calendar.
  if (Number.isNaN(end.getTime())) return undefined;
  if (!any && end <= now) {
    const ended = `This token ended at ${end.toISOString()}.`;
    throw CommandError.usage(`${ended} Get a new one from the provider, or add --any.`);
  }
  return end.toISOString();
}

type RefreshFlags = { readonly now?: boolean };

export async function refreshToken(operation: Operation, { now = false }: RefreshFlags): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const { stage } = deployment;
  const name = deployment.output("RefreshFunctionName");
  const outcome = await audited(
    operation,
    { act: "token", target: "refresh" },
    async () => parseRefreshOutcome(await invokeFunction(clients.lambda, name, { now })),
    (each) => (each === "refreshed" ? 1 : 0),
  );
  if (failures.includes(outcome)) throw CommandError.failed(outcomes[outcome]);
  const token = await tokenStatus(operation);
  const expiresAt = token.isSet ? token.expiresAt : undefined;
  terminal.result(
    { stage, outcome, ...(expiresAt !== undefined && { expiresAt }) },
    `${outcomes[outcome]} It ${lifetimeText(expiresAt, new Date())}.${outcome === "kept" ? refreshAnyway : ""}`,
  );
}

const refreshAnyway = " To refresh it anyway: npx income-events token refresh --now";
const setNewOne = "Set a new one: npx income-events token set < token.txt";

const outcomes: Readonly<Record<RefreshOutcome, string>> = {
  refreshed: "The token was refreshed.",
  kept: "The token was kept because it is not close to expiry.",
  unchanged: "The provider gave no newer token; the present one was kept.",
  unproven:
    "The provider gave a new token, and failed when it was tried. It is tried again in each run, and takes over " +
    "when half of the margin before its end is left. The present one was kept.",
  paced: "The token was kept because a refresh was requested less than a minute ago. Try again in a minute.",
  overtaken: "The token was set by an operator or another run meanwhile.",
  discarded: `The provider gave a new token and refused it at its first call; the present one stays. ${setNewOne}`,
  refused: `The provider refuses to refresh the token. ${setNewOne}`,
  missing: "No token is set. Set it: npx income-events token set < token.txt",
};
const failures: readonly RefreshOutcome[] = ["discarded", "refused", "missing"];
