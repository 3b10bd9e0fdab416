/** A permission of a role, and whether a call of the scenario was allowed by it alone. */
export type Permission = {
  readonly role: string;
  readonly action: string;
  readonly resource: string;
  readonly isNeeded: boolean;
};

/** Names without account and hashes: `UsersStore`, `OverflowBucket/data/*`. */
export type PermissionNeed = {
  readonly role: string;
  readonly action: string;
  readonly resource: string;
  /** Reason to keep it; undefined: it is unneeded. */
  readonly need: string | undefined;
};

const byCall = "a call of the scenario";

/**
 * Permissions that Lambda requires when an event source is created: without them the runner refuses the
 * assembly.
 */
const askedAtCreation =
  /^(sqs:GetQueueAttributes|dynamodb:ListStreams|s3:ListBucket|s3:PutObject) .*(Queue|\*$|failures)/;

/** Permissions that the scenario cannot use, why, and the test that does. */
const usedElsewhere: readonly (readonly [RegExp, string])[] = [
  [
    /^RelayChanges s3:(?:Get|Delete)Object relayfailures\/aws\/lambda\/parked-for/,
    "a subscriber's queue that refuses messages for seconds; test/functions/relay/resend.int.test.ts",
  ],
  [
    /^RelayChanges s3:DeleteObject /,
    "the expiry of a document, which no engine brings about; test/functions/relay/relay-expiry.int.test.ts",
  ],
  [
    /^ArchiveLetters sqs:DeleteMessage Subscriber\w+DeadLetters/,
    "a message that a subscriber received too often; test/functions/archive/archiver.int.test.ts",
  ],
  [
    /^RelayChanges dynamodb:UpdateItem /,
    "a record that is alone and older than a minute; test/functions/relay/relay-failures.int.test.ts",
  ],
  [
    /^ReconcileUsers sqs:SendMessage FetchWork/,
    "documents that are older than a run lasts; test/functions/reconcile/reconciler-lists.int.test.ts",
  ],
  [
    /^ReconcileUsers cloudwatch:GetMetricData /,
    "a tick between two runs; test/e2e/lost-webhooks.proof.test.ts",
  ],
  [
    /^ReconcileUsers (?:dynamodb:Scan |sqs:SendMessage CompanyAccounts)/,
    "company accounts after lost webhooks; test/functions/reconcile/missed.int.test.ts",
  ],
  [
    /^ReconcileUsers dynamodb:DeleteItem /,
    "marks of two scheduled runs in a row; test/functions/reconcile/orphans.int.test.ts",
  ],
  [
    /^\w+Store s3:PutObject overflowbucket\/bodies/i,
    "an element of a list that is too large for an item; test/functions/store/several-events.int.test.ts",
  ],
  [/^OtherPathsReceive /, "a path that has no route; test/e2e/edge.e2e.test.ts"],
  [
    /Receive lambda:InvokeFunction /,
    "a webhook that can be neither read nor kept; test/functions/receive/credentials.int.test.ts",
  ],
  [
    /^ReadDocuments dynamodb:(?:Query|BatchGetItem) /,
    "a subscriber that lists; those of the scenario read by address; test/functions/read/reader.int.test.ts",
  ],
];

/** @param stack the prefix of the resources' names */
export function findNeeds(permissions: readonly Permission[], stack: string): readonly PermissionNeed[] {
  return permissions.map((permission) => {
    const role = permission.role.replace(/Function[0-9A-F]{8}$/, "");
    const resource = withoutHash(permission.resource, stack);
    return { role, action: permission.action, resource, need: needOf(permission, role, resource) };
  });
}

const kinds = {
  Users: "users",
  Accounts: "accounts",
  Endpoints: "endpoints",
  CompanyAccounts: "company-accounts",
};
const named = new RegExp(`\\b(${Object.keys(kinds).join("|")})(?=Work|Receive|Store)`, "g");
const inPath = new RegExp(`(?<=bodies/)(${Object.values(kinds).join("|")})(?=/)`, "g");

/**
 * One line per permission: role, action, resource and its need. `<Kind>` stands for each kind of webhooks where all
 * have the same.
 */
export function recordOf(needs: readonly PermissionNeed[]): string {
  const lines = needs.map(
    ({ role, action, resource, need }) => `${role} ${action} ${resource}: ${need ?? "nothing"}`,
  );
  const common = (line: string) => {
    const pattern = line.replaceAll(named, "<Kind>").replaceAll(inPath, "<kind>");
    return ofEachKind(pattern).every((each) => lines.includes(each)) ? pattern : line;
  };
  return [...new Set(lines.map(common))].map((line) => `${line}\n`).join("");
}

/** The lines for which a line of the record stands. */
export function ofEachKind(line: string): readonly string[] {
  if (!line.includes("<Kind>")) return [line];
  return Object.entries(kinds).map(([name, path]) =>
    line.replaceAll("<Kind>", name).replaceAll("<kind>", path),
  );
}

/** Permissions that only some runs of the scenario use, as time decides: a record of these calls would vary. */
const usedSometimes: typeof usedElsewhere = [
  [
    /overflowbucket\/pages\//,
    "a list that is longer than a run; test/functions/fetch/reading-lists.int.test.ts",
  ],
  [
    /^FetchData sqs:ChangeMessageVisibility FetchChecks/,
    "the check of a start that can still be answered; test/functions/fetch/starting.int.test.ts",
  ],
  [
    /^FetchData lambda:InvokeFunction RefreshToken/,
    "a refused token that the refresher has not seen; test/functions/fetch/token.int.test.ts",
  ],
];

function needOf({ action, isNeeded }: Permission, role: string, resource: string): string | undefined {
  const reasonIn = (list: typeof usedElsewhere) =>
    list.find(([pattern]) => pattern.test(`${role} ${action} ${resource}`))?.[1];
  const atCreation = askedAtCreation.test(`${action} ${resource}`)
    ? "the creation of its event source"
    : undefined;
  return reasonIn(usedSometimes) ?? (isNeeded ? byCall : reasonIn(usedElsewhere)) ?? atCreation;
}

/** Logical id of a resource, with the path: an ARN without account, kind, stack and CDK's hashes. */
function withoutHash(arn: string, stack: string): string {
  return arn
    .replace(/^arn:aws:[^:]*:[^:]*:[^:]*:/, "")
    .replace(/^(?:table\/|function:|log-group:|secret:)/, "")
    .replace(`${stack}-`, "")
    .replace(/[0-9A-Fa-f]{8}(?:-[0-9A-Za-z]{6})?(?=$|[./:])/, "")
    .replace(/\/stream\/.*$/, "/stream/*");
}
