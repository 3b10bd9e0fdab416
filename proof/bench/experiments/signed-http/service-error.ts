/** A refusal of a service: `name` is its code, as the SDK's errors have it. */
export type ServiceError = Error & { readonly status: number };

/** @param text the answer's body; one that is no JSON comes from something on the way */
export function serviceError(status: number, text: string): ServiceError {
  const error = new Error(`answered ${status}`);
  return Object.assign(error, { name: codeOf(text), status });
}

function codeOf(text: string): string {
  try {
    const { __type: type }: Record<string, unknown> = Object(JSON.parse(text));
    return typeof type === "string" ? type.slice(type.lastIndexOf("#") + 1) : "UnknownError";
  } catch {
    return "UnknownError";
  }
}
