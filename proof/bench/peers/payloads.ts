import { z } from "zod";

/** Bodies of the webhooks as zod schemas; credentials (`link`, `session`) are left out. */
export const payload = z.union([
  z.object({
    action: z.literal("create_user"),
    data: z.object({ id: z.uuid(), created_at: z.iso.datetime() }),
  }),
  z.object({
    event: z.enum(["create_account", "connect_account"]),
    account_id: z.uuid(),
    user_id: z.uuid(),
    datasource_id: z.uuid(),
    connected: z.boolean(),
    created_at: z.iso.datetime(),
  }),
  z.object({
    event: z.literal("update_endpoint"),
    request_id: z.uuid(),
    account_id: z.uuid(),
    user_id: z.uuid(),
    endpoint: z.string().min(1),
    date_start: z.iso.date(),
    date_end: z.iso.date(),
    data_available: z.boolean(),
  }),
]);
export type Payload = z.output<typeof payload>;

/** Message from the receiver to the consumer. */
export const received = z.object({
  id: z.string(),
  kind: z.string(),
  receivedAt: z.iso.datetime(),
  payload,
});

export type Received = z.output<typeof received>;

/** A call to make at the provider. */
export const task = z.object({
  task: z.enum(["start", "read"]),
  accountId: z.uuid(),
  endpoint: z.string().exactOptional(),
});
export type Task = z.output<typeof task>;
