import { readFileSync } from "node:fs";
import { join } from "node:path";

const directory = join(import.meta.dirname, "../../fixtures/field");

/** A webhook to send, byte for byte. */
export type Sent = {
  readonly kind: "users" | "accounts" | "endpoints" | "company-accounts";
  /** Path below `test/fixtures/field`. */
  readonly file: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type WebhookInput = {
  readonly name: string;
  /** Sent in order, each expecting 202. */
  readonly sent: readonly Sent[];
  /** Event types by subject, in any order, each with its own id. */
  readonly events: Readonly<Record<string, readonly string[]>>;
  /** A time that one of the subject's events has, by subject. */
  readonly times?: Readonly<Record<string, string>>;
  /** A claimed time that can't be true and that none of the subject's events has, by subject. */
  readonly ignoredTimes?: Readonly<Record<string, string>>;
  /** Names of events that are logged as ignored, once each. */
  readonly ignoredNames?: readonly string[];
};

const account = (file: string, headers?: Sent["headers"]): Sent => {
  return { kind: "accounts", file, ...(headers && { headers }) };
};
const company = (file: string): Sent => ({ kind: "company-accounts", file });

const times: readonly (readonly [file: string, time: string])[] = [
  ["T1", "2026-11-26T12:10:00.000Z"],
  ["T3", "2026-11-26T12:10:00.000Z"],
  ["T5", "2025-11-26T12:00:00.512Z"],
  ["T7", "2026-11-26T12:10:00.000Z"],
  ["T9", "2026-11-26T12:10:00.123Z"],
  ["T11", "2026-11-26T12:10:00.123Z"],
  ["T13", "2026-11-26T00:00:00.000Z"],
];

/** Webhooks from public bug reports, and their expected outcome. */
export const webhookInputs: readonly WebhookInput[] = [
  {
    name: "a byte order mark",
    sent: [account("byte-order-mark.json")],
    events: { "account/acct-bom-1": ["account.connected"] },
  },
  {
    name: "a compressed body",
    sent: [account("gzip-account.json.gz", { "content-encoding": "gzip" })],
    events: { "account/acct-gz-1": ["account.connected"] },
  },
  {
    name: "retries whose bodies differ",
    sent: ["retry-first-body.json", "retry-second-body.json", "retry-reserialized.json"].map((file) =>
      account(file),
    ),
    events: { "account/acct-retry-1": ["account.disconnected"] },
  },
  {
    name: "numeric ids beyond 2^53",
    sent: [account("id-beyond-2-53-a.json"), account("id-beyond-2-53-b.json")],
    events: {
      "account/1227795846152789711": ["account.connected"],
      "account/1227795846152789722": ["account.disconnected"],
    },
  },
  {
    name: "several events in one webhook",
    sent: [company("list-of-one.json"), company("list-of-two.json")],
    events: {
      "company-account/co-1": ["company-account.connected", "company-account.disconnected"],
      "company-account/co-2": ["company-account.connected"],
    },
  },
  {
    name: "an account with a list of endpoints",
    sent: [{ kind: "endpoints", file: "multi-endpoint.json" }],
    events: {
      "account/5b7c1a52-0f6e-4b0e-9c39-0a4b3d5b1f10/income/2026-01-01..2026-01-31": ["endpoint.updated"],
      "account/5b7c1a52-0f6e-4b0e-9c39-0a4b3d5b1f10/profile": ["endpoint.updated"],
    },
  },
  {
    name: "a time a hundred years from now",
    sent: [account("time-in-2126.json"), account("time-after-2126.json")],
    events: { "account/acct-future-1": ["account.connected", "account.disconnected"] },
    times: { "account/acct-future-1": "2026-11-26T12:01:00.000Z" },
    ignoredTimes: { "account/acct-future-1": "2126-11-26T12:00:00.000Z" },
  },
  {
    name: "a time in the year 1",
    sent: [account("times/T15.json"), account("time-year-1.json")],
    events: { "account/acct-t-15": ["account.connected"], "account/acct-zero-1": ["account.connected"] },
    ignoredTimes: {
      "account/acct-t-15": "0001-01-01T00:00:00.000Z",
      "account/acct-zero-1": "0001-01-01T00:00:00.000Z",
    },
  },
  {
    name: "events that nobody wants",
    sent: [account("ping.json"), account("name-with-slash.json")],
    events: { "account/acct-ping": [], "account/614": [] },
    ignoredNames: ["ping", "connector/status_updated"],
  },
  {
    name: "events without id and time",
    sent: [company("unordered-connect.json"), company("unordered-disconnect.json")],
    events: {
      "company-account/acct-weak-1": ["company-account.connected", "company-account.disconnected"],
    },
  },
  ...times.map(([file, time]): WebhookInput => {
    const subject = `account/acct-t-${file.slice(1)}`;
    return {
      name: `a time as in ${file}`,
      sent: [account(`times/${file}.json`)],
      events: { [subject]: ["account.connected"] },
      times: { [subject]: time },
    };
  }),
];

export type AnswerInput = {
  readonly name: string;
  readonly file: string;
  readonly status: number;
  readonly contentType: string;
  /** Whether it counts as data; otherwise the stored document stays. */
  readonly isData: boolean;
};

/** Answers of income, payroll and banking APIs from public bug reports. */
export const answerInputs: readonly AnswerInput[] = [
  {
    name: "202: data is being synchronized",
    file: "answer-202-in-progress.json",
    status: 202,
    contentType: "application/json",
    isData: false,
  },
  {
    name: "a maintenance page with 200",
    file: "answer-200-maintenance.html",
    status: 200,
    contentType: "text/html",
    isData: false,
  },
  {
    name: "data in ISO-8859-1",
    file: "answer-iso-8859-1.json",
    status: 200,
    contentType: "application/json; charset=ISO-8859-1",
    isData: true,
  },
];

export function bytesOf(file: string): Buffer {
  return readFileSync(join(directory, file));
}
