export type EnvironmentName = "sandbox" | "production";

/** The versions of the provider's interface. A sandbox of `0.5` also serves the paths of `0.4`, as the provider does. */
export const providerInterfaces = ["0.4", "0.5"] as const;
export type ProviderInterface = (typeof providerInterfaces)[number];

/** `alternating`: in seconds and as a date in turn. */
export const retryAfterForms = ["seconds", "date", "alternating"] as const;
export type RetryAfterForm = (typeof retryAfterForms)[number];

/** Writes waits as the value of `Retry-After`, in one of its forms or both in turn (RFC 9110, 10.2.3). */
export function retryAfterWriter(form: RetryAfterForm, now: () => Date): (seconds: number) => string {
  let written = 0;
  return (seconds) => {
    written += 1;
    const isDate = form === "date" || (form === "alternating" && written % 2 === 0);
    if (!isDate) return String(seconds);
    // A date has whole seconds: rounded up, for whoever comes sooner comes in vain.
    return new Date(Math.ceil(now().getTime() / 1000 + seconds) * 1000).toUTCString();
  };
}
