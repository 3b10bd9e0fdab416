import { marshall } from "@aws-sdk/util-dynamodb";
import { describe, expect, it } from "vitest";
import { itemVersion, readItem } from "../../../adapters/dynamodb/items.ts";
import { readChange } from "../../../adapters/streams/change-stream.ts";

const state = {
  subject: { kind: "account", id: "a" },
  version: 1,
  deleted: false,
  unconfirmed: false,
  processed: [],
  latest: { cause: "again" },
};
const item = { pk: "ACCOUNT#a", sk: "STATE", schemaVersion: itemVersion, version: 1, state };
const recordOf = (image: object) => ({ dynamodb: { SequenceNumber: "1", NewImage: marshall(image) } });
const laterRelease = expect.objectContaining({ failure: expect.objectContaining({ waitsFor: "release" }) });
const thrownBy = (read: () => unknown) => {
  try {
    return read();
  } catch (error) {
    return error;
  }
};

describe("an item", () => {
  it("without a version is of the first", () => {
    expect(readItem(marshall({ pk: "PROVIDER", opened: 1 }))).toEqual({ pk: "PROVIDER", opened: 1 });
  });

  it("of the next release is read with what was added to it, also from the stream", () => {
    const next = { ...item, schemaVersion: itemVersion + 1, state: { ...state, added: { by: "the next" } } };
    expect(readItem(marshall(next))).toEqual(next);
    expect(readChange(recordOf(next))).toEqual({ type: "state", before: undefined, after: state });
  });

  it("of a later release is left to that, also in the stream", () => {
    const later = { ...item, schemaVersion: itemVersion + 2 };
    expect(thrownBy(() => readItem(marshall(later)))).toEqual(laterRelease);
    expect(thrownBy(() => readChange(recordOf(later)))).toEqual(laterRelease);
  });
});
