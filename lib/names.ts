/** `company-accounts` as `CompanyAccounts`: names of the settings as names of constructs and outputs. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|-)([a-z0-9])/g, (_, first: string) => first.toUpperCase());
}
