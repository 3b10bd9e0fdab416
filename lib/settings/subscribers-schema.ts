import { z } from "zod";
import { answerTypes, erasureTypes, eventTypes, readinessTypes } from "../../domain/event/events.ts";
import { wants } from "../../domain/message/message.ts";
import { accountsOf } from "./principals.ts";
import { choice, fixedDuration, listOf, remedyOf, scalableDuration, section, text } from "./setting-types.ts";

const messageTypes = [...eventTypes, ...answerTypes, ...readinessTypes, ...erasureTypes];
const typePattern = z
  .string({ error: remedyOf("write a message type as a text") })
  .refine((pattern) => messageTypes.some((type) => wants({ name: "", types: [pattern] }, type)), {
    error: remedyOf(`matches no message; write one of: ${messageTypes.join(", ")}; or a prefix with *`),
  });

const principal = text(
  /^(\d{12}|arn:[a-z-]+:iam::\d{12}:(root|(role|user)\/[\w+=,.@/-]+))$/,
  "write an account's 12 digits, or the ARN of a role or user",
);

/** Number of receives after which SQS moves a message to the DLQ; AWS recommends five for a Lambda source. */
export const maxReceiveCount = 5;

const subscriber = section({
  name: text(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'write a name of lower-case letters, digits and "-"').max(40, {
    error: remedyOf("shorten it to 40 characters"),
  }),
  /** Message types: exact, or a prefix that ends in `*`. Absent: everything. */
  types: listOf(typePattern)
    .min(1, { error: remedyOf("name a type, or leave the setting out to get everything") })
    .exactOptional(),
  /** Whether messages contain the documents that they report, if these fit, or refer to them. */
  documents: choice(["reference", "inline"]).default("reference"),
  /** Accounts, roles and users that may read the queue and documents. */
  principals: listOf(principal).default([]),
  retentionDays: scalableDuration(1, 14).default(14),
  visibilityTimeoutSeconds: fixedDuration(1, 43_200).default(60),
}).refine(
  ({ retentionDays, visibilityTimeoutSeconds }) =>
    retentionDays * 86_400 >= maxReceiveCount * visibilityTimeoutSeconds,
  {
    path: ["retentionDays"],
    error:
      `is over before a message that fails has been received ${maxReceiveCount} times: SQS drops it, and it is no dead ` +
      "letter; raise it, or lower visibilityTimeoutSeconds",
  },
);

// The eraser's environment names two queues for each subscriber, and Lambda limits it to 4 KB.
const maxSubscribers = 12;

/** Limit of a function's resource-based policy. Source: Lambda developer guide, "Lambda quotas". */
const mostPolicyBytes = 20_480;
/** Size of a permission with the longest names in Lambda's policy; an account is the ARN of its root. */
const permissionBytes = 420 + "arn:aws-iso-b:iam::000000000000:root".length;
/** The function that answers subscribers' reads has two permissions for each account. */
const mostAccounts = Math.floor(mostPolicyBytes / (2 * permissionBytes));

export const subscribersSchema = listOf(subscriber)
  .max(maxSubscribers, { error: () => `has too many; keep ${maxSubscribers}, let one of them fan out` })
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
    error: "has a name twice; give each subscriber a name of its own",
  })
  .refine((list) => accountsOf(list.flatMap(({ principals }) => principals)).length <= mostAccounts, {
    error: `name principals of more accounts than a function's policy has room for; keep ${mostAccounts} accounts`,
  })
  .default([]);
