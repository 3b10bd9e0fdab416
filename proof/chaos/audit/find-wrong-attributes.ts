import { z } from "zod";
import type { MessageLine } from "../records.ts";

const values = z.looseObject({ loanId: z.string() });
const userItem = z.object({
  state: z.object({ attributes: z.object({ values, version: z.number() }).optional() }),
});
const message = z.object({
  id: z.string(),
  subject: z.string(),
  sequence: z.string(),
  data: z.looseObject({ attributes: values.optional(), attributesSequence: z.coerce.number().default(0) }),
});

export type AttributesEvidence = {
  /** Items of the table at the end of a run. */
  readonly items: readonly Record<string, unknown>[];
  readonly messages: readonly MessageLine[];
  /** The loan id of each user whom a webhook announced, at the end. Each is one user's. */
  readonly loans: ReadonlyMap<string, string>;
  /** The user of each account. */
  readonly owners: ReadonlyMap<string, string>;
  /** The provider's ids of erased subjects. */
  readonly erased: ReadonlySet<string>;
};

/** One sentence for each user or message whose attributes are missing, too new, or another user's. */
export function findWrongAttributes(evidence: AttributesEvidence): readonly string[] {
  const { items, messages, loans, owners, erased } = evidence;
  const isOfUser = ({ pk, sk }: Record<string, unknown>) => String(pk).startsWith("USER#") && sk === "STATE";
  const known = new Map(
    items.filter(isOfUser).flatMap((item) => {
      const { attributes } = userItem.parse(item).state;
      return attributes ? [[String(item.pk).slice("USER#".length), attributes] as const] : [];
    }),
  );
  const received = messages
    .filter(({ subscriber }) => subscriber === "everything")
    .flatMap(({ body }) => {
      const { data, ...attributes } = message.parse(JSON.parse(body));
      const [kind, id = ""] = attributes.subject.split("/");
      const user = kind === "user" ? id : owners.get(id);
      const { attributes: { loanId } = {}, attributesSequence: version } = data;
      return user === undefined || erased.has(id) || erased.has(user)
        ? []
        : [{ ...attributes, user, loanId, version }];
    });
  const carried = [
    ...received.flatMap(({ user, loanId, version }) => (loanId ? [{ user, loanId, version }] : [])),
    ...[...known].map(([user, { values, version }]) => ({ user, loanId: values.loanId, version })),
  ];
  const severalIn = (groups: Iterable<[string, readonly string[]]>) =>
    [...groups].filter(([, each]) => new Set(each).size > 1).map(([name]) => name);
  const usersOf = Map.groupBy(carried, ({ loanId }) => loanId);
  const loansOf = Map.groupBy(carried, ({ user, version }) => `version ${version} of user/${user}`);
  const isNewest = ({ subject, sequence }: (typeof received)[number]) =>
    !received.some((each) => each.subject === subject && each.sequence > sequence);
  return [
    ...severalIn([...usersOf].map(([name, each]) => [name, each.map(({ user }) => user)])).map(
      (loanId) => `${loanId} was sent with several users`,
    ),
    ...severalIn([...loansOf].map(([name, each]) => [name, each.map(({ loanId }) => loanId)])).map(
      (name) => `${name} was sent with several loan ids`,
    ),
    ...received
      .filter(({ user, version }) => version > (known.get(user)?.version ?? 0))
      .map(({ id }) => `${id} has attributes that its user never had`),
    ...received
      .filter(
        ({ subject, user, loanId }) =>
          subject === `user/${user}` && loanId !== known.get(user)?.values.loanId,
      )
      .filter(isNewest)
      .map(({ id }) => `${id} is its user's last message and lacks the attributes`),
    ...[...loans]
      .filter(([user, loanId]) => loanId !== known.get(user)?.values.loanId)
      .map(([user, loanId]) => `user/${user} lacks the attribute ${loanId}`),
  ];
}
