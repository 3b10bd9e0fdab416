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
    "What to do is a command of `npx income-events`, or a setting ([settings.md](settings.md)). What raises an alarm has an entry " +
      "in the [runbook](../operate/runbook.md).",
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

<!-- Written by \`npm run docs\` from functions/runtime/log.ts and tools/documents/: change it there. -->

Each line that a function logs is one JSON object:

\`\`\`json
{"timestamp":"2026-01-31T09:00:00.123Z","level":"INFO","code":"EVENT_STORED","function":"store/accounts","requestId":"6f1c2b9e-5a0d-4c3e-8f7a-1b2c3d4e5f60","correlationId":"o3EN73myQKUP-MTtWRdsl6x-F8jygvstM-z3GQ0gb34","kind":"accounts"}
\`\`\`

\`timestamp\`, \`level\` and \`code\` are always there. \`function\` is its entry file below \`functions/\`, \`requestId\` Lambda's id of
the invocation. What else a line may hold is an allow-list: ids, counts and reasons, never a body, a token or personal data.

What a function throws, Lambda's runtime writes as one JSON object, too: \`timestamp\`, \`level\` ERROR, \`requestId\` and
\`message\` with the error. Of Lambda's own lines only those about failures are kept, unless \`logs.invocations\` is true.
Why so: [ADR 45](../adr/0045-logs-and-traces.md).`;

const following = `## Follow one event

All that follows from one webhook has one correlation id: **the id of its event**, a digest of what was sent. So each copy that the
provider sends again has the same. It is in the envelope in the queue, on the stored event, in the tasks and the data that
it leads to, in the line of each function on the way, and in the messages to subscribers as \`correlationid\`
([events.md](../guide/events.md)): its own, whose \`id\` it is as well, and those of answers and data that came because of it.

| cause | correlation id |
|---|---|
| a webhook | the event's id, also in \`events list\`, \`events show\`, \`dlq show\` |
| an answer of the provider, and data | that of the event that led to the call. Where one call serves several events it is the first one's; the others' tasks are logged as \`TASK_VOID\` |
| what reconciliation found | the id of the event that it makes of it, the same for the same gap; of data that it has read again \`reconciliation.<begin of the run>\`, as in \`RECONCILED\` |
| \`replay\` | as when it was told first; \`replayid\` says which replay |
| \`repair\` | as when it was done first |
| \`erase\` | \`correlationId\` of the command with \`--json\`; of an erasure that a deletion or a late arrival led to, that event's |
| a redrive of dead letters | as before |
| a refused webhook, the token's refresh, a registration | none: \`requestId\` alone |

It is absent in what was written before there was one. In AWS, CloudWatch Logs Insights finds it in all log groups at once
(the relay tells several in one line, so the text is searched, not a field):

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

With the setting \`tracing\` on \`service\` AWS X-Ray samples invocations of all functions, by default the first of each second and 5 % of the
rest, and shows how long each took. Off, which is the default, it costs nothing. Each role gets \`xray:PutTraceSegments\` and
\`xray:PutTelemetryRecords\`, which know no resource, and nothing else.

One trace does not cover the whole way, because AWS does not carry it so:

| from | to | is the trace carried on? |
|---|---|---|
| provider | receiver | it begins here: an HTTP API is not traced by X-Ray (only REST APIs are) |
| receiver | store | yes: the SDK sends \`X-Amzn-Trace-Id\` along, SQS keeps it as \`AWSTraceHeader\`, and Lambda links the consumer's trace, for a batch those of all its messages (at most 20) |
| store | relay | no: AWS links traces through SQS only, and a record of a DynamoDB stream has no place for one. The relay's invocations have traces of their own |
| relay | fetch, subscribers | yes, as from receiver to store; a subscriber's message has the relay's \`AWSTraceHeader\` |
| fetch | relay | no, as from store to relay |

The calls that a function makes are no subsegments: that takes an SDK of X-Ray, which is in maintenance, or OpenTelemetry in each
function ([ADR 45](../adr/0045-logs-and-traces.md)). Across the stream it is the correlation id that holds: \`requestId\` in its lines leads to
the traces. Nothing is traced on this machine: that the two permissions suffice could not be tried here.`;

function functionsOf(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}
