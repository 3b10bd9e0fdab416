/** A synthetic webhook that tests the whole pipeline. It is about nobody, and only its own queue gets it. */
const field = "income-events-canary";
const pattern = new RegExp(`^\\{"${field}":"([0-9a-f-]{36})"\\}$`);

/** @param id a UUID */
export function canaryBody(id: string): string {
  return JSON.stringify({ [field]: id });
}

/** The id in a canary's body; undefined for the body of any other webhook. */
export function canaryIn(text: string): string | undefined {
  return pattern.exec(text)?.[1];
}

/** Bytes of a canary's body, so that no longer body is decoded to look for one. */
export const canaryBytes = canaryBody("0".repeat(36)).length;
