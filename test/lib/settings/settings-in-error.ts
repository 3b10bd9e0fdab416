const provider = "provider";
/** A setting in error, what is written, and what its refusal says. */
export const settingsInError: readonly [string, object, string][] = [
  ["production missing", { production: undefined }, "production: is missing; set it to true or false"],
  [
    "an unknown setting",
    { retries: 1 },
    "retries: no such setting; remove it, or correct it to one of: production, provider,",
  ],
  [
    "an unknown setting deep down",
    { fetch: { retry: { tries: 1 } } },
    "fetch.retry.tries: no such setting; remove it, or correct it to one of: baseSeconds, maxSeconds",
  ],
  [
    "a section that is none",
    { fetch: 3 },
    "fetch: is 3; write an object with any of: maxConcurrency, retry, readAfterSeconds, longestOutageHours",
  ],
  [
    "an unknown environment",
    { provider: { environment: "test" } },
    'provider.environment: is "test"; set it to one of: sandbox, production',
  ],
  [
    "a base address that is no https",
    { provider: { baseUrls: { sandbox: "http://provider.com" } } },
    'provider.baseUrls.sandbox: is "http://provider.com"; write an address as https://host, its host in lower case, without query or a slash at its end',
  ],
  [
    "a private base address",
    { provider: { baseUrls: { sandbox: "https://10.0.0.7" } } },
    "provider.baseUrls.sandbox: is a private address; write a public one, or set provider.allowPrivateAddresses to true",
  ],
  [
    "a place in an answer that is none",
    { provider: { paging: { next: "meta..next" } } },
    'provider.paging.next: is "meta..next"; write names joined by dots, such as "meta.next"',
  ],
  [
    "a version that is none",
    { provider: { versions: { api: "4" } } },
    'provider.versions.api: is "4"; write a version segment such as "v0.4"',
  ],
  [
    "an unknown placeholder",
    { provider: { paths: { read: "/{account_id}/{endpoint}/{day}" } } },
    "provider.paths.read: has the unknown placeholder {day}; remove or correct it (known here: account_id, endpoint)",
  ],
  [
    "a missing placeholder",
    { provider: { paths: { account: "/accounts" } } },
    "provider.paths.account: lacks the placeholder {account_id}; put it where its value belongs",
  ],
  [
    "a path without its slash",
    { provider: { paths: { users: "users" } } },
    'provider.paths.users: is "users"; write a path that begins with "/"',
  ],
  [
    "an unknown placeholder in a body",
    { provider: { paths: { start: { path: "/{account_id}", body: { list: ["{endpoint}"] } } } } },
    "provider.paths.start.body: has the unknown placeholder {endpoint}; remove or correct it (known here: endpoints, account_id)",
  ],
  [
    "an invalid expression",
    { mapping: { users: { type: "action ||| event" } } },
    "mapping.users.type: is no JMESPath expression: Invalid jmespath expression: parse error at column 9",
  ],
  [
    "an expression with an unknown function",
    { mapping: { users: { time: "now()" } } },
    "mapping.users.time: is no JMESPath expression: Unknown function: now()",
  ],
  [
    "an expression that is the name of what every object has",
    { mapping: { users: { type: "toString" } } },
    'mapping.users.type: can\'t be compiled; write "@." before it',
  ],
  [
    "a source of a field that is none",
    { mapping: { users: { time: 5 } } },
    'mapping.users.time: is 5; write a JMESPath expression as a text, or {"header": "<name>"}',
  ],
  [
    "a header that may hold a credential",
    { mapping: { accounts: { userId: { header: "authorization" } } } },
    'mapping.accounts.userId.header: is "authorization"; may hold a credential by its name',
  ],
  [
    "the header of the secret as a field of events",
    { webhooks: { secretHeader: "x-hook" }, mapping: { accounts: { userId: { header: "x-hook" } } } },
    "webhooks.secretHeader: carries the secret, which goes to no queue, but the mapping reads it",
  ],
  [
    "an event type that is not ours",
    { mapping: { users: { types: { create_user: "user.made" } } } },
    'mapping.users.types.create_user: is "user.made"; set it to one of: user.created,',
  ],
  [
    "a subscriber's name that is none",
    { subscribers: [{ name: "Risk Team" }] },
    'subscribers.0.name: is "Risk Team"; write a name of lower-case letters, digits and "-"',
  ],
  [
    "a name twice",
    { subscribers: [{ name: "a" }, { name: "a" }] },
    "subscribers: has a name twice; give each subscriber a name of its own",
  ],
  [
    "a type that matches no message",
    { subscribers: [{ name: "a", types: ["acount.*"] }] },
    'subscribers.0.types.0: is "acount.*"; matches no message; write one of: user.created,',
  ],
  [
    "more principals than a function's policy has room for",
    {
      subscribers: [
        { name: "a", principals: Array.from({ length: 23 }, (_, index) => `${100_000_000_000 + index}`) },
      ],
    },
    "subscribers: name more principals than a function's policy has room for; name accounts in place of their roles",
  ],
  [
    "a principal that is none",
    { subscribers: [{ name: "a", principals: ["*"] }] },
    'subscribers.0.principals.0: is "*"; write an account\'s 12 digits, or the ARN of a role or user',
  ],
  [
    "more subscribers than the relay's environment holds",
    { subscribers: Array.from({ length: 13 }, (_, index) => ({ name: `s${index}` })) },
    "subscribers: has too many; keep 12",
  ],
  [
    "a concurrency that SQS refuses",
    { fetch: { maxConcurrency: 1 } },
    "fetch.maxConcurrency: is 1; set it to a whole number from 2 to 1000",
  ],
  [
    "an archive that looks too rarely",
    { archive: { beforeEndHours: 2, everyMinutes: 61 } },
    "archive.everyMinutes: leaves less than two runs before a dead letter's end; lower it, or raise archive.beforeEndHours",
  ],
  [
    "a longest wait below the shortest",
    { fetch: { retry: { baseSeconds: 9, maxSeconds: 3 } } },
    "fetch.retry.maxSeconds: is below retry.baseSeconds; raise it",
  ],
  [
    "a delay that SQS refuses",
    { fetch: { retry: { maxSeconds: 901 } } },
    "fetch.retry.maxSeconds: is 901; set it to a whole number from 1 to 900, the longest delay of SQS",
  ],
  [
    "an outage without end",
    { fetch: { longestOutageHours: 0 } },
    "fetch.longestOutageHours: is 0; set it to a whole number from 1 to 240: SQS keeps a task for 14 days",
  ],
  [
    "a source that is no address",
    { webhooks: { sourceAddresses: ["example.com"] } },
    'webhooks.sourceAddresses.0: is "example.com"; write an address or a network, such as "203.0.113.0/24"',
  ],
  [
    "no source at all",
    { webhooks: { sourceAddresses: [] } },
    "webhooks.sourceAddresses: is []; name one, or leave the setting out",
  ],
  [
    "a throttle that API Gateway refuses",
    { webhooks: { throttle: { requestsPerSecond: 0 } } },
    "webhooks.throttle.requestsPerSecond: is 0; set it to a whole number from 1 to 10000",
  ],
  [
    "a rate that windows can't keep",
    { provider: { requestsPerMinute: 2 } },
    "provider.requestsPerMinute: is 2; set it to a whole number from 3 to 1000000",
  ],
  [
    "a breaker's longest wait below the first",
    { provider: { breaker: { baseSeconds: 9, maxSeconds: 3 } } },
    "provider.breaker.maxSeconds: is below breaker.baseSeconds; raise it",
  ],
  [
    "refreshes that exhaust the secret's versions",
    { token: { refreshEveryMinutes: 5 } },
    "token.refreshEveryMinutes: is 5; set it to a whole number from 10 to 1440",
  ],
  [
    "runs that are too far apart",
    { reconcile: { everyHours: 200 } },
    "reconcile.everyHours: is 200; set it to a whole number from 1 to 168",
  ],
  [
    "a comparison that ends before the provider answers",
    { functions: { reconcile: { timeoutSeconds: 10 } } },
    "functions.reconcile.timeoutSeconds: ends before a slow answer; raise it",
  ],
  [
    "a retention shorter than the provider's retries",
    { retention: { eventsDays: 3 } },
    "retention.eventsDays: is 3; set it to a whole number from 4 to 3650: duplicates come for 3 days",
  ],
  [
    "a retention that the provider's retries outlive",
    { retention: { eventsDays: 10 }, webhooks: { retryHours: 240 } },
    "retention.eventsDays: is over before the provider's last retry, which would be a new event; raise it over webhooks.retryHours",
  ],
  [
    "a log retention that CloudWatch does not offer",
    { retention: { logsDays: 2 } },
    "retention.logsDays: is 2; set it to one of: 1, 3,",
  ],
  [
    "a time-out that Lambda does not take",
    { functions: { store: { timeoutSeconds: 901 } } },
    "functions.store.timeoutSeconds: is 901; set it to a whole number from 1 to 900",
  ],
  [
    "a receiver that outlives API Gateway's patience",
    { functions: { receive: { timeoutSeconds: 30 } } },
    "functions.receive.timeoutSeconds: is 30; set it to a whole number from 1 to 29",
  ],
  [
    "a function that ends before the provider answers",
    { functions: { fetch: { timeoutSeconds: 20 } } },
    "functions.fetch.timeoutSeconds: ends before a slow answer; raise it over the sum of provider.timeouts by a tenth",
  ],
  [
    "a header in capitals",
    { webhooks: { secretHeader: "X-Secret" } },
    'webhooks.secretHeader: is "X-Secret"; write an HTTP header\'s name in lower case',
  ],
  [
    "a placeholder address in production",
    {
      production: true,
      alarms: { emails: ["on-call@example.com"] },
      [provider]: { environment: "production" },
    },
    "provider.baseUrls.production: is a placeholder, which a production stage can't call; write the provider's address",
  ],
];
