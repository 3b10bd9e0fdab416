import { describe, expect, it } from "vitest";
import { readMessage } from "../../../domain/message/read-message.ts";

const message = {
  specversion: "1.0",
  id: "an id",
  source: "/income-events/prod",
  type: "endpoint.updated",
  subject: "account/a/income",
  time: "2026-11-21T12:00:00.000Z",
  datacontenttype: "application/json",
  sequence: "00000000000000000001",
  data: { accountId: "a", endpoint: "income", outcome: "applied", dataAvailable: true },
};
const read = (value: object) => readMessage(JSON.stringify(value));
const ofData = (change: object) => read({ ...message, data: { ...message.data, ...change } });

describe("a message of the contract", () => {
  it("is read as it is, whatever else it holds", () => {
    expect(read(message)).toEqual({ as: "message", message });
    const more = { ...message, more: 1, data: { ...message.data, dataAvailable: false, more: 2 } };
    expect(read(more)).toEqual({ as: "message", message: more });
  });

  it.each(["a later release's type", "toString"])("of the unknown type %s is told as such", (type) => {
    const later = { ...message, type, data: undefined };
    const { data: _, ...told } = later;
    expect(read(later)).toEqual({ as: "unknown", message: told });
  });
});

describe("a text that is no message of the contract is unreadable", () => {
  it.each(["", "{", "null", "5", '"text"', "[]"])("where it is no JSON object: %j", (text) => {
    expect(readMessage(text)).toEqual({ as: "unreadable", reason: "the message is no JSON object" });
  });

  it.each<[string, object]>([
    ["type: expected a text", { type: undefined }],
    ["type: expected a text", { type: "" }],
    ["type: expected a text", { type: 5 }],
    ["sequence: is missing", { sequence: undefined }],
    ["sequence: is missing", { type: "a later release's type", sequence: undefined }],
    ["id: expected a text", { id: "" }],
    ["id: expected a text", { id: 5 }],
    ["specversion: expected 1.0", { specversion: "2.0" }],
    ["source: expected a text like ^/income-events/.", { source: "/others" }],
    ["sequence: expected a text like ^[0-9]{20}$", { sequence: "1" }],
    ["time: expected date-time", { time: "yesterday" }],
    ["time: expected date-time", { time: "2026-13-41T12:00:00Z" }],
    ["data: expected an object", { data: "x" }],
  ])("with its reason: %s", (reason, change) => {
    expect(read({ ...message, ...change })).toEqual({ as: "unreadable", reason });
  });

  it.each<[string, object]>([
    ["data.endpoint: is missing", { endpoint: undefined }],
    ["data.outcome: expected one of applied, agreed, stale, unconfirmed", { outcome: "done" }],
    ["data.dataAvailable: expected true or false", { dataAvailable: "true" }],
    ["data.accountId, companyAccountId: expected one of these", { accountId: undefined }],
    ["data.accountId, companyAccountId: expected one of these", { companyAccountId: "c" }],
  ])("with its reason, of its data: %s", (reason, change) => {
    expect(ofData(change)).toEqual({ as: "unreadable", reason });
  });

  it("where what is true by its type is not", () => {
    for (const test of [false, "true"]) {
      const reason = "data.test: expected true";
      expect(read({ ...message, type: "subscriber.test", data: { test } })).toEqual({
        as: "unreadable",
        reason,
      });
    }
  });
});
