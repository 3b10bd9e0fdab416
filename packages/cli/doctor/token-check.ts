import { invokeFunction } from "../../../adapters/aws/function-invoker.ts";
import { FailureError } from "../../../domain/core/failures.ts";
import { fromNow } from "../core/spans.ts";
import { type TokenStatus, tokenStatus } from "../status/token-status.ts";
import type { Check, Examination, Examined, Finding } from "./finding.ts";
import { setToken } from "./remedies.ts";

export const tokenCheck: Check = {
  name: "the provider's token",
  examine: async (examination) => {
    const { deployment, clients, now, registrations } = examination;
    // This call shows whether the provider accepts the token now.
    await registrations();
    const token = await tokenStatus(deployment, clients);
    if (!token.isSet || token.refusal !== "noted") return checkTokenState(token, now);
    await findOut(examination);
    return checkTokenState(await tokenStatus(deployment, clients), now);
  },
};

/**
 * Has the refresher find out why a call was refused, as its next run would. Its failures concern the
 * provider.
 */
async function findOut({ deployment, clients }: Examination): Promise<void> {
  try {
    await invokeFunction(clients.lambda, deployment.output("RefreshFunctionName"), {});
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
  }
}

const nothingFetched = "No income data is fetched. Tasks wait; nothing is lost.";
const fix = setToken;

/** Alarms that end once the token is set and accepted. */
const alarmsOfToken = ["token-missing", "token-at-risk", "token-refresh-failing"];

export function checkTokenState(token: TokenStatus, now: Date): Examined {
  const finding = findingOf(token, now);
  if (finding !== undefined) return { findings: [finding], well: [] };
  const since = token.isSet ? new Date(token.storedAt) : now;
  return { findings: [], well: alarmsOfToken.map((code) => ({ code, since })) };
}

function findingOf(token: TokenStatus, now: Date): Finding | undefined {
  const stopped = { severity: "error", why: nothingFetched, fix } as const;
  if (!token.isSet) return { code: "token-missing", what: "No token of the provider is set.", ...stopped };
  const { expiresAt, refusal } = token;
  if (refusal === "ended")
    return { code: "token-refused", what: "The provider refuses the token.", ...stopped };
  const end = expiresAt && new Date(expiresAt);
  if (end && end <= now)
    return { code: "token-expired", what: `The token expired ${fromNow(end, now)}.`, ...stopped };
  if (refusal === "none") return undefined;
  return {
    code: "token-questioned",
    severity: "warning",
    what: "The provider refused a call with the token.",
    why: "Either the token or one path of the provider is wrong. The refresher tests the token.",
    fix: "npx income-events token refresh --now",
  };
}
