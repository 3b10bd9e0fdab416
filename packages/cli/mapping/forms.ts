import { parseTimestamp, parseUnixTime } from "../../../domain/core/timestamps.ts";
import type { LearnedField } from "./names.ts";
import type { Place } from "./places.ts";

type Value = Place["value"];

/** Whether a value has the form that a field asks for. */
export function fits(field: LearnedField, value: Value): boolean {
  switch (field) {
    case "type":
      return typeof value === "string" && /^[\p{L}][\p{L}\p{N}_.:/ -]{0,99}$/u.test(value) && !isTime(value);
    case "userId":
    case "accountId":
    case "companyAccountId":
    case "eventId":
      return isId(value);
    case "datasourceId":
      return isId(value) || isSlug(value);
    case "endpoint":
      return isSlug(value) && !isUuid(value);
    case "time":
      return isTime(value);
    case "connected":
    case "dataAvailable":
      return typeof value === "boolean" || value === "true" || value === "false";
    case "dateStart":
    case "dateEnd":
      return typeof value === "string" && /^\d{4}-\d{2}-\d{2}/.test(value);
  }
}

export function isUuid(value: Value): boolean {
  return typeof value === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
}

/** By the beginning that many providers give the ids of events. */
export function isEventIdByForm(value: Value): boolean {
  return typeof value === "string" && /^(evt|event|msg|req|whk?|dlv)[_-]/i.test(value);
}

function isTime(value: Value): boolean {
  return (
    parseUnixTime(value) !== undefined || (typeof value === "string" && parseTimestamp(value) !== undefined)
  );
}

function isId(value: Value): boolean {
  if (typeof value === "number") return Number.isSafeInteger(value) && value > 0;
  if (typeof value !== "string" || !/^[\w.:=+|~-]{1,200}$/.test(value)) return false;
  return !/^\d{4}-\d{2}-\d{2}/.test(value) && value !== "true" && value !== "false";
}

function isSlug(value: Value): boolean {
  return typeof value === "string" && /^[\p{L}][\p{L}\p{N}_./ -]{0,63}$/u.test(value);
}
