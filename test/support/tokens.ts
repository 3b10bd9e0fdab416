import type { TokenRefusals } from "../../adapters/provider/token-refusals.ts";

/** For callers whose token is never refused. */
export const noRefusals: Pick<TokenRefusals, "isEnded" | "report"> = {
  isEnded: () => false,
  report: () => Promise.reject(new Error("the token was refused")),
};
