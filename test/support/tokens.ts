import type { TokenRefusals } from "../../adapters/provider/token-refusals.ts";

/** For callers whose token is never refused. */
export const noRefusals: TokenRefusals = {
  isEnded: () => false,
  report: () => Promise.reject(new Error("the token was refused")),
};
