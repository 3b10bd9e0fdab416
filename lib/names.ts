/** Converts a name of the settings to one of constructs and outputs: `company-accounts` to `CompanyAccounts`. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|-)([a-z0-9])/g, (_, first: string) => first.toUpperCase());
}
