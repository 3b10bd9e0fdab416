import type { ProviderApi } from "../../adapters/provider/provider-api.ts";
import type { RefusalNote } from "../../adapters/provider/token-refusals.ts";
import type { StoredToken, TokenSecret } from "../../adapters/secrets/token-secret.ts";
import { FailureError, failureOf, isRefusedCall, permanent } from "../../domain/core/failures.ts";
import { fieldsOf, isFields, optionalText, parseJson, textOf } from "../../domain/core/parse.ts";
import { type ApiAnswer, Unauthorized } from "../../domain/fetch/answer.ts";
import type { TokenVersion } from "../../domain/fetch/token.ts";
import {
  hasTokenForm,
  isHalfMarginGone,
  isNearEnd,
  isRefreshDue,
  isShortLived,
  type RefreshOutcome,
  type RefreshSettings,
  remainingInSeconds,
  succeeds,
  type TokenLifetime,
} from "../../domain/fetch/token-lifetime.ts";
import type { Log, LogCode } from "../runtime/log.ts";

export type RefresherDependencies = {
  readonly secret: TokenSecret;
  readonly refusals: Pick<RefusalNote, "read" | "conclude" | "claimRefresh">;
  readonly api: Pick<ProviderApi, "send">;
  readonly readLifetime: (token: string) => TokenLifetime;
  readonly refreshPath: string;
  /** A cheap call that any valid token may make, to prove a new one. */
  readonly proofPath: string;
  readonly refresh: RefreshSettings;
  readonly now: () => Date;
  readonly log: Log;
};

/** Only an operator replaces a younger refreshed token: a loop would exhaust Secrets Manager's versions. */
const youngInSeconds = 600;

const codes: Readonly<Record<RefreshOutcome, LogCode>> = {
  refreshed: "TOKEN_REFRESHED",
  kept: "TOKEN_KEPT",
  unchanged: "TOKEN_UNCHANGED",
  discarded: "TOKEN_DISCARDED",
  overtaken: "TOKEN_OVERTAKEN",
  refused: "TOKEN_REFUSED",
  missing: "TOKEN_MISSING",
  unproven: "TOKEN_UNPROVEN",
  paced: "TOKEN_PACED",
};

/**
 * Refreshes the token before it expires, after calls with it were refused, or on an event `{"now": true}`. A
 * run requests at most one refresh, and the next run repairs what a failed run left. An event
 * `{"prove": version}` only tries an operator's pending token, and makes it current if the provider accepts
 * it.
 */
export function refresher(
  dependencies: RefresherDependencies,
): (event?: unknown) => Promise<{ readonly outcome: RefreshOutcome }> {
  return async (event) => {
    const versionId = isFields(event) ? optionalText(event, "prove") : undefined;
    if (versionId !== undefined) return { outcome: await proveByHand(versionId, dependencies) };
    const isAskedFor = isFields(event) && event.now === true;
    const outcome = await run(isAskedFor, dependencies);
    dependencies.log(codes[outcome]);
    return { outcome };
  };
}

async function run(isAskedFor: boolean, dependencies: RefresherDependencies): Promise<RefreshOutcome> {
  const { secret, refusals, readLifetime, refresh, now, log } = dependencies;
  let current = await secret.current();
  if (current.token === undefined) return "missing";
  const healed = await healPending(current, dependencies);
  if (healed === "refreshed") {
    current = await secret.current();
    if (!isKnownToBeDue(current, dependencies)) return healed;
    log(codes[healed]);
  } else if (healed !== undefined) return healed;
  if (current.token === undefined) return "missing";
  const lifetime = readLifetime(current.token);
  const remaining = remainingInSeconds(lifetime, now());
  if (remaining !== undefined) log("TOKEN_TIME_LEFT", { remainingInSeconds: Math.floor(remaining) });
  if (isShortLived(lifetime, refresh)) log("TOKEN_SHORT_LIVED");
  const verdict = await verdictOnRefused(current, current.token, dependencies);
  const isRefused = verdict === "refused";
  if (isRefused && !isAskedFor && isYoung(current, now())) {
    // Calls wait until an operator sets a token, or until a later run replaces this one.
    await refusals.conclude(current.versionId, true);
    return "refused";
  }
  const isForbidden = verdict === "forbidden" && !isYoung(current, now());
  if (!isRefused && !isForbidden && !isAskedFor && !isRefreshDue(lifetime, now(), refresh)) return "kept";
  const replaced = replace({ ...current, token: current.token }, { isRefused, isAskedFor }, dependencies);
  return warnUnlessReplaced(replaced, isNearEnd(lifetime, now(), refresh), log);
}

/** Whether a token that was pending for a long time is itself near its end. */
function isKnownToBeDue(
  { token = "" }: StoredToken,
  { readLifetime, refresh, now }: RefresherDependencies,
): boolean {
  const lifetime = readLifetime(token);
  return remainingInSeconds(lifetime, now()) !== undefined && isRefreshDue(lifetime, now(), refresh);
}

/** Proves an operator's token. A refusal raises no alarm: the operator sees it, and the old token stays. */
async function proveByHand(versionId: string, dependencies: RefresherDependencies): Promise<RefreshOutcome> {
  const { secret, log } = dependencies;
  const [current, left] = await Promise.all([secret.current(), secret.pending()]);
  if (left?.versionId !== versionId) return current.versionId === versionId ? "refreshed" : "overtaken";
  const outcome = await prove(left, current, dependencies);
  if (outcome === "refreshed") log(codes[outcome]);
  return outcome;
}

/** Warns if the token is near its end and the run doesn't replace it. */
async function warnUnlessReplaced(
  outcome: Promise<RefreshOutcome>,
  isNear: boolean,
  log: Log,
): Promise<RefreshOutcome> {
  let isReplaced = false;
  try {
    const came = await outcome;
    isReplaced = came === "refreshed" || came === "overtaken";
    return came;
  } finally {
    if (isNear && !isReplaced) log("TOKEN_NEAR_END");
  }
}

/**
 * Settles a token that an earlier run left pending. Proves it if it may still succeed the current token,
 * otherwise discards it without a call.
 * @returns the outcome of the run; undefined if the run continues
 */
async function healPending(
  current: StoredToken,
  dependencies: RefresherDependencies,
): Promise<RefreshOutcome | undefined> {
  const { secret, readLifetime, log } = dependencies;
  const left = await secret.pending();
  if (left === undefined || left.versionId === current.versionId) return undefined;
  if (succeeds(left, current, readLifetime)) {
    const outcome = await proveOrWithhold(left, current, dependencies);
    if (outcome !== "discarded") return outcome;
    log(codes[outcome]);
    return undefined;
  }
  await secret.discard(left.versionId);
  log("TOKEN_OVERTAKEN");
  return undefined;
}

/**
 * Checks whether the provider refuses the token version with which calls were refused: a 401 or 403 of a
 * single path doesn't end a token. If the proof fails for another reason, a later run tries again.
 * @returns "refused" if the proof is answered 401, "forbidden" if it is answered 403
 */
async function verdictOnRefused(
  { versionId }: StoredToken,
  token: string,
  { refusals, api, proofPath, log }: RefresherDependencies,
): Promise<"refused" | "forbidden" | "taken" | "unknown"> {
  if ((await refusals.read()) !== versionId) return "unknown";
  try {
    if (!(await isTaken(api, token, proofPath))) return "refused";
  } catch (error) {
    if (isRefusedCall(error)) return "forbidden";
    log("TOKEN_UNPROVEN", { reason: failureOf(error).reason });
    return "unknown";
  }
  await refusals.conclude(versionId, false);
  log("TOKEN_STILL_VALID");
  return "taken";
}

function isYoung({ replaces, createdAt }: StoredToken, now: Date): boolean {
  return replaces !== undefined && now.getTime() - createdAt.getTime() < youngInSeconds * 1000;
}

/** Requests a new token. If that is refused, the old one stays: it may work until it expires. */
async function replace(
  current: StoredToken & { readonly token: string },
  { isRefused, isAskedFor }: { readonly isRefused: boolean; readonly isAskedFor: boolean },
  dependencies: RefresherDependencies,
): Promise<RefreshOutcome> {
  const { secret, refusals, api, readLifetime, refreshPath, now } = dependencies;
  const { versionId, token } = current;
  const isClaimed = await refusals.claimRefresh(now());
  // The pace guards against loops, so it doesn't bind an operator.
  if (!isClaimed && !isAskedFor) return "paced";
  const next = await refreshedToken(api, token, refreshPath);
  if (next === undefined) {
    if (isRefused) await refusals.conclude(versionId, true);
    return "refused";
  }
  // A malformed token must not become pending: each later run would end before it requested another.
  if (!hasTokenForm(next)) return "discarded";
  if (!succeeds({ token: next, replaces: versionId }, current, readLifetime)) return "unchanged";
  return proveOrWithhold(await secret.propose(next, versionId), current, dependencies);
}

/**
 * Proves a pending token. If the proof fails for a reason other than a refusal, for example while the
 * provider's data paths fail, the token stays pending. With half of the margin left it becomes current
 * unproven, because the current one would expire; that one stays the previous version.
 */
async function proveOrWithhold(
  pending: TokenVersion,
  current: TokenVersion,
  dependencies: RefresherDependencies,
): Promise<RefreshOutcome> {
  const { secret, readLifetime, refresh, now, log } = dependencies;
  try {
    return await prove(pending, current, dependencies);
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    if (!isHalfMarginGone(readLifetime(current.token ?? ""), now(), refresh)) return "unproven";
    log("TOKEN_UNPROVEN", { reason: error.failure.reason });
    return (await secret.promote(pending.versionId, current.versionId)) ? "refreshed" : "overtaken";
  }
}

/**
 * Proves a pending token with one call and makes it current, unless another one replaced `current` meanwhile.
 * A refused token is discarded; any other failure throws and leaves it pending.
 */
async function prove(
  { versionId, token = "" }: TokenVersion,
  current: TokenVersion,
  { secret, api, proofPath }: RefresherDependencies,
): Promise<"refreshed" | "overtaken" | "discarded"> {
  if (!hasTokenForm(token) || !(await isTaken(api, token, proofPath))) {
    await secret.discard(versionId);
    return "discarded";
  }
  const isPromoted = await secret.promote(versionId, current.versionId);
  // Otherwise the next run evaluates the pending token against the one that is current then.
  return isPromoted ? "refreshed" : "overtaken";
}

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
