import { en, Faker, generateMersenne53Randomizer } from "@faker-js/faker";
import type { WebhookKind } from "../../domain/event/events.ts";

/** One delivery of a webhook. */
export type Webhook = { readonly kind: WebhookKind; readonly body: string };

export type WorkloadShape = {
  readonly seed: number;
  /** Number of distinct events. */
  readonly events: number;
  /** Share of all deliveries that repeat an earlier event; below 1. */
  readonly duplicates: number;
};

const endpoints = ["profile", "income", "employment", "identity", "documents", "vehicle", "reports"];

/**
 * Generates a repeatable mix of deliveries in the sandbox's shapes: of ten events, one registers a user, two
 * create and connect the user's account, and seven announce data, one per endpoint, so that no two share a
 * read. Duplicates are byte-identical copies of random events, somewhere after the first delivery.
 */
export function workload({ seed, events, duplicates }: WorkloadShape): readonly Webhook[] {
  const faker = new Faker({ locale: en, randomizer: generateMersenne53Randomizer(seed) });
  const distinct: Webhook[] = [];
  while (distinct.length < events) distinct.push(...eventsOfUser(faker));
  const deliveries = distinct.slice(0, events);
  const again = Math.round((events * duplicates) / (1 - duplicates));
  for (let count = 0; count < again; count += 1) {
    const first = faker.number.int({ min: 0, max: deliveries.length - 1 });
    const later = faker.number.int({ min: first + 1, max: deliveries.length });
    const repeated = deliveries[first];
    if (repeated !== undefined) deliveries.splice(later, 0, repeated);
  }
  return deliveries;
}

function eventsOfUser(faker: Faker): readonly Webhook[] {
  const [userId, accountId] = [faker.string.uuid(), faker.string.uuid()];
  const timestamp = () => faker.date.past({ refDate: "2026-11-01T00:00:00Z" }).toISOString();
  const account = (event: string, connected: boolean) => ({
    event,
    account_id: accountId,
    user_id: userId,
    datasource_id: faker.string.uuid(),
    connected,
    created_at: timestamp(),
  });
  return [
    webhook("users", {
      action: "create_user",
      data: {
        id: userId,
        created_at: timestamp(),
        accounts_number: 0,
        link: faker.internet.url(),
        session: faker.string.alphanumeric(32),
        session_expires_at: timestamp(),
      },
    }),
    webhook("accounts", account("create_account", false)),
    webhook("accounts", account("connect_account", true)),
    ...endpoints.map((endpoint) =>
      webhook("endpoints", {
        event: "update_endpoint",
        request_id: faker.string.uuid(),
        account_id: accountId,
        user_id: userId,
        endpoint,
        date_start: "2026-10-01",
        date_end: "2026-10-31",
        data_available: true,
      }),
    ),
  ];
}

function webhook(kind: WebhookKind, payload: object): Webhook {
  return { kind, body: JSON.stringify(payload) };
}
