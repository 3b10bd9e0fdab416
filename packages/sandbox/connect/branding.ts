import type { Datasource } from "../datasources.ts";

/** An operator's branding of the connection flow. Production requires all fields but the list. */
export type Branding = {
  readonly name?: string | undefined;
  /** A `data:` URL of a PNG, JPEG or SVG image, at most 100 kB. */
  readonly logo?: string | undefined;
  /** `#rrggbb`; white text is on it. */
  readonly accentColor?: string | undefined;
  /** Datasources offered; absent: all of the environment. */
  readonly datasources?: readonly Datasource[];
};

export type Look = { readonly name: string; readonly logo: string; readonly accentColor: string };

const longestLogo = 136_000;

/** @throws a range error naming the invalid part and its remedy */
export function checkedBranding(branding: Branding): Branding {
  const { name, logo, accentColor, datasources } = branding;
  if (name !== undefined && (name.trim() === "" || name.length > 80)) {
    throw new RangeError("name: give 1 to 80 characters");
  }
  if (logo !== undefined && !/^data:image\/(png|jpeg|svg\+xml)[;,][\x21-\x7e]*$/.test(logo)) {
    throw new RangeError("logo: give a data: address of a PNG, JPEG or SVG image");
  }
  if (logo !== undefined && logo.length > longestLogo) {
    throw new RangeError("logo: give an image of at most 100 kB");
  }
  if (accentColor !== undefined && !/^#[\da-f]{6}$/i.test(accentColor)) {
    throw new RangeError("accentColor: write it as #rrggbb");
  }
  if (datasources?.length === 0)
    throw new RangeError("datasources: name one at least, or leave the list out");
  return branding;
}

const exampleLogo = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" rx="10" fill="#1f4fd8"/>' +
    '<path d="M10 27V15l10 8 10-8v12" fill="none" stroke="#fff" stroke-width="3.5" stroke-linejoin="round"/></svg>',
)}`;

const exampleLook: Look = { name: "Example Lending", logo: exampleLogo, accentColor: "#1f4fd8" };

/**
 * Completes an environment's branding with examples in the sandbox.
 * @returns in production, the names of missing fields
 */
export function lookOf(
  branding: Branding,
  production: boolean,
): Look | { readonly missing: readonly string[] } {
  const given = { name: branding.name, logo: branding.logo, accentColor: branding.accentColor };
  const missing = Object.entries(given).flatMap(([field, value]) => (value === undefined ? [field] : []));
  if (production && missing.length > 0) return { missing };
  const { name = exampleLook.name, logo = exampleLook.logo, accentColor = exampleLook.accentColor } = given;
  return { name, logo, accentColor };
}
