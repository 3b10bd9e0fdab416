import { type ApiAnswer, type CallWithToken, Unauthorized } from "../../adapters/provider-api.ts";
import type { TokenSecret, TokenVersion } from "../../adapters/token-secret.ts";
import { permanent } from "../../domain/failures.ts";
import { fieldsOf, parseJson, textOf } from "../../domain/parse.ts";
import { isRefreshDue } from "../../domain/token-life.ts";
import type { Log } from "../runtime/log.ts";

export type RefresherDependencies = {
  readonly secret: TokenSecret;
  readonly call: CallWithToken;
  readonly readLife: (token: string) => { readonly issuedAt?: number; readonly expiresAt?: number };
  readonly refreshPath: string;
  /** A cheap call that any valid token may make: it proves a new one. */
  readonly proofPath: string;
  readonly marginFraction: number;
  readonly now: () => Date;
  readonly log: Log;
};

/**
 * Refreshes the token before its end: the new one is stored as AWSPENDING, proven with one call, and made
 * current only over the version that it replaces. A pending token that an earlier run left is proven first.
 */
export function refresher(dependencies: RefresherDependencies): () => Promise<void> {
  return async () => {
    const { secret, readLife, marginFraction, now, log } = dependencies;
    const current = await secret.current();
    if (current.token === undefined) return log("TOKEN_MISSING");
    const left = await secret.pending();
    if (left !== undefined && left.versionId !== current.versionId) {
      return prove(left, current, dependencies);
    }
    if (!isRefreshDue(readLife(current.token), now(), marginFraction)) return log("TOKEN_KEPT");
    const token = await refresh(current.token, dependencies);
    if (token === undefined) return log("TOKEN_REFUSED");
    return prove(await secret.propose(token), current, dependencies);
  };
}

/** @returns undefined where the provider refuses: the old token is kept, and nothing loops */
async function refresh(
  token: string,
  { call, refreshPath }: RefresherDependencies,
): Promise<string | undefined> {
  const answer = await answerOrRefusal(call(token, { method: "GET", path: refreshPath }));
  if (answer === "refused") return undefined;
  if (!answer.found) throw permanent("the refresh path is not found; see provider.versions.refresh");
  const body = fieldsOf(parseJson(answer.text, "the refresh answer"), "the refresh answer");
  return textOf(body, "token");
}

/** A refused token is discarded; any other failure throws and leaves it pending for the next run. */
async function prove(
  pending: TokenVersion,
  current: TokenVersion,
  { secret, call, proofPath, log }: RefresherDependencies,
): Promise<void> {
  const isProven =
    pending.token !== undefined &&
    (await answerOrRefusal(call(pending.token, { method: "GET", path: proofPath }))) !== "refused";
  if (!isProven) {
    await secret.discard(pending.versionId);
    return log("TOKEN_DISCARDED");
  }
  await secret.promote(pending.versionId, current.versionId);
  return log("TOKEN_REFRESHED");
}

async function answerOrRefusal(answer: Promise<ApiAnswer>): Promise<ApiAnswer | "refused"> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Unauthorized) return "refused";
    throw error;
  }
}
