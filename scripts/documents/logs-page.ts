import { type LogCode, logCodes, logLevels } from "../../functions/runtime/log.ts";
import { originsOfCodes } from "./log-origins.ts";
import { fieldMeanings, remedies } from "./log-remedies.ts";
import { table } from "./markdown.ts";

/** The page for whoever reads logs. */
export function logsPage(): string {
  const origins = originsOfCodes();
  const levels: Partial<Record<string, string>> = logLevels;
  const row = (code: LogCode) => [`\`${code}\``, logCodes[code], functionsOf(origins.get(code) ?? [])];
  const codes = Object.keys(logCodes).filter((code): code is LogCode => Object.hasOwn(logCodes, code));
  const isLoud = (code: LogCode): code is keyof typeof remedies => Object.hasOwn(remedies, code);
  return `${[
    opening,
    table(
      ["field", "meaning"],
      Object.entries(fieldMeanings).map(([name, meaning]) => [`\`${name}\``, meaning]),
    ),
    following,
    traces,
    "## The codes",
    "The remedy is a command of `npx income-events`, or a setting ([settings.md](settings.md)). Each alarm has an entry in the " +
      "[runbook](../operate/runbook.md).",
    ...(["ERROR", "WARN"] as const).flatMap((level) => [
      `### ${level}`,
      table(
        ["code", "means", "logged by", "what to do"],
        codes
          .filter(isLoud)
          .filter((code) => levels[code] === level)
          .map((code) => [...row(code), remedies[code]]),
      ),
    ]),
    "### INFO",
    table(["code", "means", "logged by"], codes.filter((code) => levels[code] === undefined).map(row)),
  ].join("\n\n")}\n`;
}

const opening = `# Logs and traces

<!-- Written by \`npm run docs\` from functions/runtime/log.ts and scripts/documents/: change it there. -->

Each line that a function logs is one JSON object:

\`\`\`json
{"timestamp":"2026-01-31T09:00:00.123Z","level":"INFO","code":"EVENT_STORED","function":"store/accounts","requestId":"6f1c2b9e-5a0d-4c3e-8f7a-1b2c3d4e5f60","kind":"accounts","count":1,"correlationIds":["o3EN73myQKUP-MTtWRdsl6x-F8jygvstM-z3GQ0gb34"],"types":["account.created"],"subjects":["account/9c858901-8a57-4791-81fe-4c455b099bc9"]}
\`\`\`

\`timestamp\`, \`level\` and \`code\` are always there. \`function\` is its entry file below \`functions/\`, \`requestId\` Lambda's id of
the invocation. An allow-list limits the other fields: ids, counts and reasons, never a body, a token or personal data.

Lambda's runtime writes an error that a function throws as one JSON object, too: \`timestamp\`, \`level\` ERROR, \`requestId\` and
\`message\`. Lambda's other lines are dropped, unless they are about failures or \`logs.invocations\` is true. The reasons are in
[ADR 45](../adr/0045-logs-and-traces.md).`;

const following = `## Follow one event

Everything that follows from one webhook has one correlation id: **the id of its event**, a digest of its content. Each copy that
the provider sends again has the same. The id is in the envelope in the queue, on the stored event, in its tasks and data, in the
line of each function in the data flow, and in the messages to subscribers as \`correlationid\`
([events.md](../guide/events.md)): the event's own message, whose \`id\` it is as well, and those of the answers and data that
came because of it.

| cause | correlation id |
|---|---|
| a webhook | the event's id, also in \`events list\`, \`events show\`, \`dlq show\` |
| an answer of the provider, and data | that of the event that led to the call; if one call serves several events, the first one's (the others' tasks are logged as \`TASK_VOID\`) |
| reconciliation | the id of the event that it makes, the same for the same gap; for data that it reads again \`reconciliation.<begin of the run>\`, as in \`RECONCILED\` |
| \`replay\` | the original one; \`replayid\` names the replay |
| \`repair\` | the original one |
| \`erase\` | \`correlationId\` of the command with \`--json\`; for an erasure after a deletion or late data, that event's |
| a redrive of dead letters | the original one |
| a refused webhook, the token's refresh, a registration | none: \`requestId\` alone |

Data of earlier releases may lack it. In AWS, CloudWatch Logs Insights finds it in all log groups at once (store and relay write several
in one line, so search the text, not a field):

\`\`\`
fields @timestamp, level, code, function, requestId, reason
| filter @message like "o3EN73myQKUP-MTtWRdsl6x-F8jygvstM-z3GQ0gb34"
| sort @timestamp
\`\`\`

\`\`\`sh
aws logs start-query --log-group-identifiers $(aws logs describe-log-groups --log-group-name-prefix income-events-prod \\
    --query 'logGroups[].arn' --output text | sed 's/:\\*//g') \\
  --start-time $(date -d '3 days ago' +%s) --end-time $(date +%s) --query-string file://query.txt
\`\`\`

On this machine \`npm start\` writes each function's log to a file, anew at each start:

\`\`\`sh
grep -h o3EN73myQKUP-MTtWRdsl6x-F8jygvstM-z3GQ0gb34 .local/logs/*.log | sort
\`\`\``;

const traces = `## Traces

With the setting \`tracing\` on \`service\`, AWS X-Ray samples invocations of all functions, by default the first of each second and
5 % of the rest, and shows how long each took. It is off by default and costs nothing then. Each role gets \`xray:PutTraceSegments\` and
\`xray:PutTelemetryRecords\`, which know no resource, and nothing else.

One trace does not cover the whole data flow, because AWS does not carry it:

| from | to | is the trace carried on? |
|---|---|---|
| provider | receiver | it begins here: an HTTP API is not traced by X-Ray (only REST APIs are) |
| receiver | store | yes: the SDK sends \`X-Amzn-Trace-Id\` along, SQS keeps it as \`AWSTraceHeader\`, and Lambda links the consumer's trace, for a batch those of all its messages (at most 20) |
| store | relay | no: AWS links traces through SQS only, and a record of a DynamoDB stream has no place for one. The relay's invocations have traces of their own |
| relay | fetch, subscribers | yes, as from receiver to store; a subscriber's message has the relay's \`AWSTraceHeader\` |
| fetch | relay | no, as from store to relay |

The calls that a function makes are no subsegments: that takes an SDK of X-Ray, which is in maintenance, or OpenTelemetry in each
function ([ADR 45](../adr/0045-logs-and-traces.md)). Across the stream use the correlation id: \`requestId\` in its lines leads to the traces.
Nothing is traced on this machine, so it could not be tested that the two permissions suffice.`;

function functionsOf(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}
