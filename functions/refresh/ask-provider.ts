import { type ApiAnswer, type ProviderApi, Unauthorized } from "../../adapters/provider/provider-api.ts";
import { permanent } from "../../domain/core/failures.ts";
import { fieldsOf, parseJson, textOf } from "../../domain/core/parse.ts";

/**
 * Asks the provider for a new token.
 * @returns undefined if it refuses the old one
 * @throws failures of the call; a permanent failure if the answer has no token
 */
export async function refreshedToken(
  api: Pick<ProviderApi, "send">,
  token: string,
  path: string,
): Promise<string | undefined> {
  const answer = await answerOrRefusal(api.send(token, { method: "GET", path }));
  if (answer === "refused") return undefined;
  if (!answer.found) throw permanent("the refresh path is not found; see provider.versions.refresh");
  const body = fieldsOf(parseJson(answer.text, "the refresh answer"), "the refresh answer");
  return textOf(body, "token");
}

/**
 * Proves a token with one call.
 * @throws failures of the call that say nothing about the token
 */
export async function isTaken(api: Pick<ProviderApi, "send">, token: string, path: string): Promise<boolean> {
  return (await answerOrRefusal(api.send(token, { method: "GET", path }))) !== "refused";
}

async function answerOrRefusal(answer: Promise<ApiAnswer>): Promise<ApiAnswer | "refused"> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Unauthorized) return "refused";
    throw error;
  }
}
