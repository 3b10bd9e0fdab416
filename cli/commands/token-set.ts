import type { Command } from "commander";
import { isJwt, readTokenLifetime } from "../../adapters/secrets/token-claims.ts";
import { setToken } from "../../adapters/secrets/token-secret.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";

type Flags = { readonly any?: boolean };

/** Over any token: what is longer is another file. */
const maxBytes = 16_384;

export function addTokenSet(group: Command): void {
  addCommand<Flags>(
    group,
    {
      name: "set",
      summary: "Sets the provider's token, from the standard input: arguments can be read by others.",
      examples: [
        "npx income-events token set < token.txt",
        "pass show provider/token | npx income-events token set --stage prod --outputs outputs.json",
      ],
    },
    set,
  ).option("--any", "also what is no JWT, or a JWT whose time is over");
}

async function set({ deployment, clients, terminal }: Operation, { any = false }: Flags): Promise<void> {
  const token = (await terminal.readInput(maxBytes)).trim();
  const expiresAt = check(token, any, new Date());
  await setToken(clients.secretsManager, deployment.output("TokenSecretArn"), token);
  const { stage } = deployment;
  terminal.result(
    { stage, ...(expiresAt && { expiresAt }) },
    `The token of the stage ${stage} is set. ` +
      (expiresAt === undefined ? "It has no end." : `It ends at ${expiresAt} unless it is refreshed.`),
  );
}

/** @returns when the token ends, if it reports. @throws CommandError, which never quotes the token */
function check(token: string, any: boolean, now: Date): string | undefined {
  if (token === "") {
    throw new CommandError("usage", "The standard input is empty. Give it the token: token set < token.txt");
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new CommandError(
      "usage",
      'The standard input holds more than one word. Give the token alone, without "Bearer" and on one line.',
    );
  }
  if (!any && !isJwt(token)) {
    throw new CommandError("usage", "This is no JWT. Where the provider's tokens are none, add --any.");
  }
  const { expiresAt = Number.NaN } = readTokenLifetime(token);
  const end = new Date(expiresAt * 1000);
  // Also where it says a time that no calendar has.
  if (Number.isNaN(end.getTime())) return undefined;
  if (!any && end <= now) {
    const ended = `This token ended at ${end.toISOString()}.`;
    throw new CommandError("usage", `${ended} Get a new one from the provider, or add --any.`);
  }
  return end.toISOString();
}
