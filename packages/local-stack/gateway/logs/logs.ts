import type { Answer } from "../../http-server.ts";
import { errorAnswer, jsonAnswer } from "../answer.ts";
import { asString, checkInputs, type JsonObject, type Operation, type Place } from "../operation.ts";
import { FilterPatternError, parseFilterPattern } from "./filter-pattern.ts";

export type LoggedLine = {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  readonly position: number;
};

/** Lines in order; `next` is absent at the end of the log. */
export type LogPage = { readonly lines: readonly LoggedLine[]; readonly next?: number };

export type LogGroup = {
  readonly name: string;
  page(after: number, since: number): LogPage;
};

export type LogsEngine = { readonly groups: () => readonly LogGroup[] };

const knownInputs: Readonly<Record<string, readonly string[]>> = {
  DescribeLogGroups: ["logGroupNamePrefix", "limit", "nextToken"],
  FilterLogEvents: [
    ...["logGroupName", "startTime", "endTime", "filterPattern"],
    ...["limit", "nextToken", "interleaved"],
  ],
};
const mostGroups = 50;
const mostEvents = 10_000;
const maxBytes = 1024 * 1024;
/** Bytes that CloudWatch adds to the size of each event. */
const overheadBytes = 26;

/**
 * Parses a call to CloudWatch Logs.
 * Source: CloudWatch Logs API reference, "DescribeLogGroups" and "FilterLogEvents".
 * @throws UnknownOperationError for calls that this machine does not answer as CloudWatch Logs would
 */
export function logsOperation(name: string, input: JsonObject, scope: Place): Operation {
  const hint = ". A function's output is its log, and the runner writes it";
  checkInputs(`logs:${name}`, input, knownInputs, hint);
  const resource = `arn:aws:logs:${scope.region}:${scope.account}:log-group:${asString(input.logGroupName)}:log-stream:`;
  return { service: "logs", action: `logs:${name}`, needs: [{ action: `logs:${name}`, resource }] };
}

export function logsAnswer({ action }: Operation, input: JsonObject, { groups }: LogsEngine): Answer {
  if (action === "logs:DescribeLogGroups") return describeGroups(input, groups());
  const group = groups().find(({ name }) => name === input.logGroupName);
  if (group === undefined)
    return fault("ResourceNotFoundException", "The specified log group does not exist.");
  try {
    return jsonAnswer(200, filterEvents(group, input));
  } catch (error) {
    if (error instanceof FilterPatternError) return fault("InvalidParameterException", error.message);
    throw error;
  }
}

function describeGroups(input: JsonObject, groups: readonly LogGroup[]): Answer {
  const found = groups
    .map(({ name }) => name)
    .filter((name) => name.startsWith(asString(input.logGroupNamePrefix)))
    .toSorted();
  const begin = found.findIndex((name) => name > asString(input.nextToken));
  const limit = Math.min(mostGroups, Number(input.limit ?? mostGroups));
  const page = begin === -1 ? [] : found.slice(begin, begin + limit);
  const last = page.at(-1);
  return jsonAnswer(200, {
    logGroups: page.map((logGroupName) => ({ logGroupName })),
    ...(last !== undefined && last !== found.at(-1) && { nextToken: last }),
  });
}

/**
 * Filters one page of the log. The page may be empty even if more follow.
 * @throws FilterPatternError
 */
function filterEvents(group: LogGroup, input: JsonObject): object {
  const isWanted = parseFilterPattern(asString(input.filterPattern));
  const until = Number(input.endTime ?? Number.POSITIVE_INFINITY);
  const limit = Math.min(mostEvents, Number(input.limit ?? mostEvents));
  const after = positionIn(input.nextToken);
  const { lines, next } = group.page(after, Number(input.startTime ?? 0));
  const events: LoggedLine[] = [];
  let bytes = 0;
  let cut: number | undefined;
  let before = after;
  for (const line of lines) {
    if (line.at <= until && isWanted(line.text)) {
      bytes += Buffer.byteLength(line.text) + overheadBytes;
      if (events.length === limit || (bytes > maxBytes && events.length > 0)) {
        cut = before;
        break;
      }
      events.push(line);
    }
    before = line.position;
  }
  const nextToken = cut ?? next;
  return {
    events: events.map((event) => described(event)),
    searchedLogStreams: [],
    ...(nextToken !== undefined && { nextToken: `local/${nextToken}` }),
  };
}

function described({ at, text, position }: LoggedLine): object {
  const eventId = String(position);
  return { logStreamName: "local", timestamp: at, ingestionTime: at, message: text, eventId };
}

/** @throws FilterPatternError for a token of another service */
function positionIn(token: unknown): number {
  if (token === undefined) return 0;
  const [, position] = /^local\/(\d+)$/.exec(asString(token)) ?? [];
  if (position === undefined) throw new FilterPatternError("The specified nextToken is invalid.");
  return Number(position);
}

function fault(errorType: string, message: string): Answer {
  return errorAnswer("logs", { status: 400, errorType, message });
}
