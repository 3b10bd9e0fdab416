import { isRefusedCall, waiting } from "../../domain/core/failures.ts";
import type { TokenVersion } from "../../domain/fetch/token-succession.ts";
import type { SecretReader } from "../secrets/secret-reader.ts";
import type { TokenRefusals } from "../secrets/token-refusals.ts";
import { type ApiAnswer, type ApiCall, type CallWithToken, Unauthorized } from "./provider-api.ts";

/** A call with the token that the secret holds; on a 401 the secret is read again and the call made once more. */
export type Call = (call: ApiCall) => Promise<ApiAnswer>;

/** Why a call waits that nobody has set a token for. */
export const noToken = "no token is set";

/** A task waits this long for a token that is not there, or was refused twice. */
const tokenWaitInSeconds = 60;

/**
 * @returns calls that fail as `CallWithToken` does, and as `waiting` while there is no token that the provider takes.
 * A second 401 fails this call only; it is reported, so that the token is refreshed.
 */
export function withToken(
  callWithToken: CallWithToken,
  secret: SecretReader<TokenVersion>,
  refusals: TokenRefusals,
): Call {
  const readOther = rereading(secret);
  const attempt = async (call: ApiCall, version: TokenVersion) => {
    try {
      return await callWithToken(usableToken(version, refusals), call);
    } catch (error) {
      // Some providers answer 403 where a token has lost its rights: the refresher tries it.
      if (isRefusedCall(error)) await refusals.report(version.versionId);
      throw error;
    }
  };
  return async (call) => {
    const first = await secret.read();
    try {
      return await attempt(call, first);
    } catch (error) {
      if (!(error instanceof Unauthorized)) throw error;
    }
    const second = await readOther(first);
    try {
      return await attempt(call, second);
    } catch (error) {
      if (!(error instanceof Unauthorized)) throw error;
    }
    await refusals.report(second.versionId);
    throw waiting("the token was refused", tokenWaitInSeconds);
  };
}

/** Fails as a call does where there is no token to make it with, and makes none. */
export function tokenGate(secret: SecretReader<TokenVersion>, refusals: TokenRefusals): () => Promise<void> {
  return async () => {
    usableToken(await secret.read(), refusals);
  };
}

function usableToken({ token, versionId }: TokenVersion, { isEnded }: TokenRefusals): string {
  if (token === undefined) throw waiting(noToken, tokenWaitInSeconds);
  if (isEnded(versionId)) throw waiting("the token was refused", tokenWaitInSeconds);
  return token;
}

/** Reads again what was refused. Calls that are refused at the same time share it, later ones use what it brought. */
function rereading(secret: SecretReader<TokenVersion>) {
  let reading: Promise<TokenVersion> | undefined;
  return async (refused: TokenVersion): Promise<TokenVersion> => {
    const kept = await secret.read();
    if (kept.versionId !== refused.versionId) return kept;
    reading ??= secret.readAgain().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}
