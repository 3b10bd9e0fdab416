export type EnvironmentName = "sandbox" | "production";

/** Versions of the provider's interface. `0.5` also serves the paths of `0.4`, as the provider does. */
export const providerInterfaces = ["0.4", "0.5"] as const;
export type ProviderInterface = (typeof providerInterfaces)[number];

/** `alternating`: seconds and a date in turn. */
export const retryAfterForms = ["seconds", "date", "alternating"] as const;
export type RetryAfterForm = (typeof retryAfterForms)[number];

/** Formats `Retry-After` as seconds, as a date, or alternating (RFC 9110, 10.2.3). */
export function retryAfterWriter(form: RetryAfterForm, now: () => Date): (seconds: number) => string {
  let written = 0;
  return (seconds) => {
    written += 1;
    const isDate = form === "date" || (form === "alternating" && written % 2 === 0);
    if (!isDate) return String(seconds);
    // Dates have whole seconds: rounded up, since an earlier retry would fail.
    return new Date(Math.ceil(now().getTime() / 1000 + seconds) * 1000).toUTCString();
  };
}
