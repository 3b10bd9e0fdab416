import { fromNow } from "../core/spans.ts";
import { type TokenStatus, tokenStatus } from "../status/token-status.ts";
import type { Check, Finding } from "./finding.ts";

export const tokenCheck: Check = {
  name: "the provider's token",
  examine: async ({ deployment, clients, now }) =>
    checkTokenState(await tokenStatus(deployment, clients), now),
};

const nothingFetched = "No income data is fetched. Tasks wait, nothing is lost.";
const setOne = "npx income-events token set < token.txt";

export function checkTokenState(token: TokenStatus, now: Date): readonly Finding[] {
  if (!token.isSet) return [{ what: "No token of the provider is set.", why: nothingFetched, fix: setOne }];
  const { expiresAt, refusal } = token;
  if (refusal === "ended")
    return [{ what: "The provider refuses the token.", why: nothingFetched, fix: setOne }];
  const end = expiresAt && new Date(expiresAt);
  if (end && end <= now)
    return [{ what: `The token ended ${fromNow(end, now)}.`, why: nothingFetched, fix: setOne }];
  if (refusal === "none") return [];
  const why = "Either the token is of no use, or one of the provider's paths is: the refresher finds out.";
  return [
    {
      what: "The provider refused a call with the token.",
      why,
      fix: "npx income-events token refresh",
    },
  ];
}
