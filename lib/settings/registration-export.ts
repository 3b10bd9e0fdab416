/** What writes an address in the letters of an export's name: each text with what stands in its place, in this order. */
export const exportNameReplacements = [
  // Each ":" but a port's begins one of these.
  ["/", "::"],
  [".", ":-"],
  ["_", ":u"],
  ["[", ""],
  ["]", ""],
] as const;

export const registrationExportPrefix = "income-events:registers:";

/**
 * The export by which a stage claims the registration with a provider, as CloudFormation makes it of the same address: two
 * stages that register with one provider would take each other's webhooks away. See docs/adr/0006.
 */
export function registrationExportName(address: string): string {
  const withoutScheme = address.split("://")[1] ?? "";
  const written = exportNameReplacements.reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    withoutScheme,
  );
  return `${registrationExportPrefix}${written}`;
}
