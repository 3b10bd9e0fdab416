const provider = "provider";
/** A setting, a value that it refuses, and the text of the refusal. */
const refusals: readonly (readonly [path: string, value: unknown, remedy: string])[] = [
  ["retries", 1, "no such setting; remove it, or correct it to one of: production, provider,"],
  ["fetch.retry.tries", 1, "no such setting; remove it, or correct it to one of: baseSeconds, maxSeconds"],
  [
    "fetch",
    3,
    "is 3; write an object with any of: maxConcurrency, retry, readAfterSeconds, longestOutageHours",
  ],
  ["provider.environment", "test", 'is "test"; set it to one of: sandbox, production'],
  [
    "provider.baseUrls.sandbox",
    "http://provider.com",
    'is "http://provider.com"; write an address as https://host, its host in lower case, without query or a slash at its end',
  ],
  [
    "provider.baseUrls.sandbox",
    "https://10.0.0.7",
    "is a private address; write a public one, or set provider.allowPrivateAddresses to true",
  ],
  ["provider.paging.next", "meta..next", 'is "meta..next"; write names joined by dots, such as "meta.next"'],
  ["provider.versions.api", "4", 'is "4"; write a version segment such as "v0.4"'],
  [
    "provider.paths.read",
    "/{account_id}/{endpoint}/{day}",
    "has the unknown placeholder {day}; remove or correct it (known here: account_id, endpoint)",
  ],
  [
    "provider.paths.account",
    "/accounts",
    "lacks the placeholder {account_id}; put it where its value belongs",
  ],
  ["provider.paths.users", "users", 'is "users"; write a path that begins with "/"'],
  [
    "mapping.users.type",
    "action ||| event",
    "is no JMESPath expression: Invalid jmespath expression: parse error at column 9",
  ],
  ["mapping.users.time", "now()", "is no JMESPath expression: Unknown function: now()"],
  [
    "mapping.users.type",
    "(user_id == `1227795846152789711` && 'a') || 'b'",
    "holds a number that is rounded, 1227795846152789711; compare to_string(<the field>) with '1227795846152789711'",
  ],
  ["mapping.users.type", "toString", 'can\'t be compiled; write "@." before it'],
  ["mapping.users.time", 5, 'is 5; write a JMESPath expression as a text, or {"header": "<name>"}'],
  [
    "mapping.accounts.userId.header",
    "authorization",
    'is "authorization"; may hold a credential by its name',
  ],
  ["mapping.users.events", "[", "is no JMESPath expression"],
  [
    "mapping.users.events",
    { header: "x-events" },
    'is {"header":"x-events"}; write a JMESPath expression as a text',
  ],
  ["mapping.users.attributes.loanId", "[", "is no JMESPath expression"],
  ["mapping.users.attributes", { "loan id": "a" }, 'names an attribute "loan id"; write up to 64 of'],
  [
    "mapping.users.attributes",
    Object.fromEntries(Array.from("abcdefghijk", (name) => [name, "a"])),
    "holds 11 names; leave 10 at most",
  ],
  ["mapping.accounts.attributes", { loanId: "a" }, "is of users alone, whose metadata it reads"],
  ["mapping.users.identity", "id", 'is "id"; set it to one of: body, eventId'],
  ["mapping.users.identity", "eventId", "needs mapping.users.eventId; set it to where"],
  ["mapping.endpoints.identity", "eventId", "needs mapping.endpoints.eventId; set it to where"],
  ["mapping.accounts.time.header", "x-sent-at", 'is "x-sent-at"; changes from try to try by its name'],
  [
    "mapping.accounts.eventId.header",
    "x-attempt-id",
    'is "x-attempt-id"; changes from try to try by its name',
  ],
  ["mapping.users.types.create_user", "user.made", 'is "user.made"; set it to one of: user.created,'],
  ["subscribers", [{ name: "a" }, { name: "a" }], "has a name twice; give each subscriber a name of its own"],
  ["subscribers", Array.from({ length: 13 }, (_, index) => ({ name: `s${index}` })), "has too many; keep 12"],
  ["fetch.maxConcurrency", 1, "is 1; set it to a whole number from 2 to 1000"],
  ["fetch.retry.maxSeconds", 901, "is 901; set it to a whole number from 1 to 900, the longest delay of SQS"],
  [
    "fetch.longestOutageHours",
    0,
    "is 0; set it to a whole number from 1 to 240: SQS keeps a task for 14 days",
  ],
  ["webhooks.sourceAddresses", [], "is []; name one, or leave the setting out"],
  ["webhooks.throttle.requestsPerSecond", 0, "is 0; set it to a whole number from 1 to 10000"],
  ["provider.requestsPerMinute", 2, "is 2; set it to a whole number from 3 to 1000000"],
  ["token.refreshEveryMinutes", 5, "is 5; set it to a whole number from 10 to 1440"],
  ["reconcile.everyHours", 200, "is 200; set it to a whole number from 1 to 168"],
  ["functions.reconcile.timeoutSeconds", 10, "ends before a slow answer; raise it"],
  ["retention.eventsDays", 3, "is 3; set it to a whole number from 4 to 3650: duplicates come for 3 days"],
  ["retention.logsDays", 2, "is 2; set it to one of: 1, 3,"],
  ["functions.receive.timeoutSeconds", 30, "is 30; set it to a whole number from 1 to 29"],
  [
    "functions.fetch.timeoutSeconds",
    20,
    "ends before a slow answer; raise it over the sum of provider.timeouts by a tenth",
  ],
  ["webhooks.secretScheme", "Digest", 'is "Digest"; set it to one of: Bearer, Basic'],
  ["webhooks.secretHeader", "X-Secret", 'is "X-Secret"; write an HTTP header\'s name in lower case'],
];

const keyArn = "arn:aws:kms:eu-central-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e";
const noKey =
  'is "alias/mine"; write the ARN of a symmetric key of KMS in the stage\'s region; an alias is none';
const certificateArn = "arn:aws:acm:eu-central-1:123456789012:certificate/4f6e";
const incomeByRange = { readRange: { income: "/a/{account_id}/{date_start}/{date_end}" } };

/** A section of the settings, a value that it refuses, and the text of the refusal. */
const sections: readonly (readonly [name: string, value: object, fault: string])[] = [
  ["encryption", { keyArn: "alias/mine" }, `keyArn: ${noKey}`],
  [
    "encryption",
    { queueKey: keyArn },
    `queueKey: is "${keyArn}"; write "alias/aws/sqs", or set encryption.keyArn to a key of yours`,
  ],
  [
    "encryption",
    { keyArn, queueKey: "alias/aws/sqs" },
    "queueKey: is another key for the queues than encryption.keyArn; leave one of them out",
  ],
  ["encryption", { previousKeyArns: ["alias/mine"] }, `previousKeyArns.0: ${noKey}`],
  [
    "encryption",
    { keyArn, previousKeyArns: [keyArn] },
    "previousKeyArns: names encryption.keyArn, which is the key in use; leave it out of the list",
  ],
  [
    "webhooks",
    { customDomain: { name: "https://hooks.example.com", certificateArn } },
    'customDomain.name: is "https://hooks.example.com"; write a name such as',
  ],
  [
    "webhooks",
    { customDomain: { name: "hooks", certificateArn } },
    'customDomain.name: is "hooks"; write a name such as',
  ],
  [
    "webhooks",
    { customDomain: { name: "hooks.example.com" } },
    "customDomain.certificateArn: is missing; write the ARN of a certificate of ACM",
  ],
  ["readiness", {}, "endpoints: is missing; write a list: […]"],
  ["readiness", { endpoints: [] }, "endpoints: is []; name at least one endpoint"],
  ["readiness", { endpoints: ["a", "a"] }, 'endpoints: is ["a","a"]; name each endpoint once'],
  ["readiness", { endpoints: ["in come"] }, 'endpoints.0: is "in come"; write an endpoint\'s name'],
  ["readiness", { endpoints: ["a"], deadlineHours: 241 }, "deadlineHours: is 241; set it to a whole number"],
  ["readiness", { endpoints: ["income"], minDays: 0 }, "minDays: is 0; set it to a whole number from 1 to"],
  ["readiness", { endpoints: ["profile"], minDays: 90 }, "minDays: counts the days of income"],
];

/** Settings with one value. */
function written(path: string, value: unknown): object {
  const [name = "", ...rest] = path.split(".");
  return { [name]: rest.length === 0 ? value : written(rest.join("."), value) };
}

const others: readonly (readonly [string, object, string])[] = [
  ...sections.map(([name, value, fault]): readonly [string, object, string] => [
    `${name} ${JSON.stringify(value)}`,
    { [name]: value },
    `${name}.${fault}`,
  ]),
  [
    "readiness of what is read by ranges",
    { readiness: { endpoints: ["income"] }, provider: { paths: incomeByRange } },
    "readiness.endpoints: has one that provider.paths.readRange reads",
  ],
  ["production missing", { production: undefined }, "production: is missing; set it to true or false"],
  [
    "an unknown placeholder in a body",
    { provider: { paths: { start: { path: "/{account_id}", body: { list: ["{endpoint}"] } } } } },
    "provider.paths.start.body: has the unknown placeholder {endpoint}; remove or correct it (known here: endpoints, account_id)",
  ],
  [
    "the header of the secret as a field of events",
    { webhooks: { secretHeader: "x-hook" }, mapping: { accounts: { userId: { header: "x-hook" } } } },
    "webhooks.secretHeader: carries the secret, which goes to no queue, but the mapping reads it",
  ],
  [
    "a subscriber's name that is none",
    { subscribers: [{ name: "Risk Team" }] },
    'subscribers.0.name: is "Risk Team"; write a name of lower-case letters, digits and "-"',
  ],
  ...[
    [1, 17_281],
    [2, 43_200],
  ].map(([retentionDays, visibilityTimeoutSeconds]): readonly [string, object, string] => [
    `a subscriber whose messages are dropped before they are dead letters: ${retentionDays}`,
    { subscribers: [{ name: "a", retentionDays, visibilityTimeoutSeconds }] },
    "subscribers.0.retentionDays: is over before a message that fails has been received 5 times: SQS drops it, and it is no dead letter; raise it, or lower visibilityTimeoutSeconds",
  ]),
  ...[
    { sourceAddresses: ["203.0.113.0/24"], customDomain: {} },
    { customDomain: { mutualTls: { truststoreUri: "s3://bucket/truststore.pem" } } },
  ].map((webhooks, index): readonly [string, object, string] => {
    const customDomain = { name: "hooks.example.com", certificateArn, behindCloudFront: true };
    return [
      `what CloudFront before the API hides from it: ${Object.keys(webhooks)}`,
      { webhooks: { ...webhooks, customDomain: { ...customDomain, ...webhooks.customDomain } } },
      index === 0
        ? "webhooks.sourceAddresses: would be compared with CloudFront's own addresses; leave it out"
        : "webhooks.customDomain.mutualTls: would ask CloudFront for a certificate, which presents none",
    ];
  }),
  ...[
    { sourceAddresses: ["203.0.113.0/24"] },
    {
      customDomain: {
        name: "hooks.example.com",
        certificateArn,
        mutualTls: { truststoreUri: "s3://bucket/truststore.pem" },
      },
    },
  ].map((webhooks): readonly [string, object, string] => [
    `a canary that is refused: ${Object.keys(webhooks)}`,
    { canary: {}, webhooks },
    "canary: can't send webhooks where only given addresses or certificates may; leave it out",
  ]),
  ...[{}, { types: ["data.*"] }, { documents: "reference" }].map(
    (reader): readonly [string, object, string] => [
      `documents that nobody can read: ${JSON.stringify(reader)}`,
      {
        reading: "none",
        subscribers: [
          { name: "ok", types: ["account.*"] },
          { name: "a", ...reader },
        ],
      },
      "reading: lets nobody read the documents that messages refer to; set documents to inline for each subscriber",
    ],
  ),
  [
    "a type that matches no message",
    { subscribers: [{ name: "a", types: ["acount.*"] }] },
    'subscribers.0.types.0: is "acount.*"; matches no message; write one of: user.created,',
  ],
  [
    "principals of more accounts than a function's policy has room for",
    {
      subscribers: [
        { name: "a", principals: Array.from({ length: 23 }, (_, index) => `${100_000_000_000 + index}`) },
      ],
    },
    "subscribers: name principals of more accounts than a function's policy has room for; keep 22 accounts",
  ],
  [
    "a principal that is none",
    { subscribers: [{ name: "a", principals: ["*"] }] },
    'subscribers.0.principals.0: is "*"; write an account\'s 12 digits, or the ARN of a role or user',
  ],
  [
    "erasure on a deletion that nobody could confirm",
    { erasure: { onDeletion: true } },
    "erasure.onDeletion: needs provider.paths.user, by which a deletion is confirmed before anybody is erased; set the provider's path that answers 404 for a user it does not have, or leave onDeletion out",
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
    "a source that is no address",
    { webhooks: { sourceAddresses: ["example.com"] } },
    'webhooks.sourceAddresses.0: is "example.com"; write an address or a network, such as "203.0.113.0/24"',
  ],
  [
    "a breaker's longest wait below the first",
    { provider: { breaker: { baseSeconds: 9, maxSeconds: 3 } } },
    "provider.breaker.maxSeconds: is below breaker.baseSeconds; raise it",
  ],
  [
    "a retention that the provider's retries outlive",
    { retention: { eventsDays: 10 }, webhooks: { retryHours: 240 } },
    "retention.eventsDays: is over before the provider's last retry, which would be a new event; raise it over webhooks.retryHours",
  ],
  [
    "a time-out that Lambda does not take",
    { functions: { store: { timeoutSeconds: 901 } } },
    "functions.store.timeoutSeconds: is 901; set it to a whole number from 1 to 900",
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

/** An invalid setting, the whole settings, and the text of the refusal. */
export const settingsInError: readonly (readonly [string, object, string])[] = [
  ...refusals.map(([path, value, remedy]) => [path, written(path, value), `${path}: ${remedy}`] as const),
  ...others,
];

export function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "";
}
