import { waiting } from "../domain/failures.ts";
import { type ApiAnswer, type ApiCall, type CallWithToken, Unauthorized } from "./provider-api.ts";
import type { SecretReader } from "./secret-reader.ts";

/** A call with the token that the secret holds; on a 401 the secret is read again and the call made once more. */
export type Call = (call: ApiCall) => Promise<ApiAnswer>;

/** A task waits this long for a token that is not there, or was refused twice. */
const tokenWaitInSeconds = 60;

export function withToken(callWithToken: CallWithToken, token: SecretReader<string | undefined>): Call {
  const attempt = async (call: ApiCall, value: string | undefined) => {
    if (value === undefined) throw waiting("no token is set", tokenWaitInSeconds);
    return callWithToken(value, call);
  };
  return async (call) => {
    try {
      return await attempt(call, await token.read());
    } catch (error) {
      if (!(error instanceof Unauthorized)) throw error;
    }
    try {
      return await attempt(call, await token.readAgain());
    } catch (error) {
      if (error instanceof Unauthorized) throw waiting("the token was refused", tokenWaitInSeconds);
      throw error;
    }
  };
}
