import { z } from "zod";
import { eventTypes } from "../../domain/event/events.ts";
import { answerTypes, erasureTypes, readinessTypes } from "../../domain/message/message-types.ts";
import { wants } from "../../domain/message/subscribers.ts";
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

/** How often SQS delivers a message before it moves it to the DLQ; five, as AWS asks for a Lambda source. */
export const maxReceiveCount = 5;

const subscriber = section({
  name: text(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'write a name of lower-case letters, digits and "-"').max(40, {
    error: remedyOf("shorten it to 40 characters"),
  }),
  /** Message types: exact, or a prefix that ends in `*`. Absent: everything. */
  types: listOf(typePattern)
    .min(1, { error: remedyOf("name a type, or leave the setting out to get everything") })
    .exactOptional(),
  /** Whether messages hold the documents that they report, as far as these fit, or refer to them. */
  documents: choice(["reference", "inline"]).default("reference"),
  /** Accounts, or roles and users in them, that may read the queue and documents. */
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

// Twelve, since the eraser's environment names two queues for each and Lambda allows 4 KB of it in all.
const maxSubscribers = 12;

/** Source: Lambda developer guide, "Lambda quotas": a function's resource-based policy. */
const mostPolicyBytes = 20_480;
/** What Lambda writes of a permission with the longest names; an account as the ARN of its root. */
const permissionBytes = 420 + "arn:aws-iso-b:iam::000000000000:root".length;
/** The function that answers subscribers' reads admits each account with two permissions. */
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
