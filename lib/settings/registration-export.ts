/** Replacements that write an address in the characters of an export's name, applied in this order. */
export const exportNameReplacements = [
  // Each ":" except a port's begins one of these.
  ["/", "::"],
  [".", ":-"],
  ["_", ":u"],
  ["[", ""],
  ["]", ""],
] as const;

export const registrationExportPrefix = "income-events:registers:";

/**
 * Name of the export by which a stage claims the registration with a provider, equal to the one that CloudFormation
 * builds. Two stages that register with one provider would replace each other's webhooks. See docs/adr/0006.
 */
export function registrationExportName(address: string): string {
  const withoutScheme = address.split("://")[1] ?? "";
  const written = exportNameReplacements.reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    withoutScheme,
  );
  return `${registrationExportPrefix}${written}`;
}
