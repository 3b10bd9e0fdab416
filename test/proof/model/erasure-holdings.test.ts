import { expect, it } from "vitest";
import { holdingsOf } from "../../../proof/model/erasure/holdings.ts";

const person = { userId: "u1", accountId: "a1", mark: "<mark of 0>" };
const other = { userId: "u1/x", accountId: "a1/x", mark: "<mark of 1>" };

it("finds a person's remaining data by their mark, in text and in a base64 body", () => {
  const body = `{"user_id":"u1","mark":"${person.mark}"}`;
  const pieces = [
    { place: "dead letter", text: body },
    { place: "object bodies/users/m-1", text: body },
    { place: "object bodies/users/m-2", text: Buffer.from(body).toString("base64") },
    { place: "object bodies/users/m-3", text: Buffer.from("{}").toString("base64") },
  ];
  const places = ["dead letter", "object bodies/users/m-1", "object bodies/users/m-2"];
  expect(holdingsOf(person, pieces)).toEqual(places);
  expect(holdingsOf(other, pieces)).toEqual([]);
});

it("finds data under a person's names without their mark, and nothing under similar names", () => {
  const pieces = [
    { place: "item USER#u1 STATE", text: "{}" },
    { place: "object data/account/a1/income", text: "{}" },
    { place: "item USER#u1%2Fx STATE", text: "{}" },
  ];
  expect(holdingsOf(person, pieces)).toEqual(["item USER#u1 STATE", "object data/account/a1/income"]);
});
