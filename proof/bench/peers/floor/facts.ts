import { type Facts, typeOf } from "../job.ts";

type Body = {
  readonly action?: string;
  readonly event?: string;
  readonly data?: { readonly id: string };
  readonly user_id: string;
  readonly account_id: string;
  readonly endpoint?: string;
  readonly connected?: boolean;
};

/** The provider's fields by our names, taken as they come. */
export function factsOf({ action, event, data, ...fields }: Body): Facts {
  const type = typeOf[action ?? event ?? ""] ?? "";
  if (data !== undefined) return { type, userId: data.id };
  const { user_id: userId, account_id: accountId, endpoint, connected } = fields;
  const facts = { type, userId, accountId, ...(connected !== undefined && { connected }) };
  return endpoint === undefined ? facts : { ...facts, endpoint };
}
