/** Which document: whose, and which version of it. */
export type DocumentName = {
  readonly kind: string;
  readonly id: string;
  readonly endpoint: string;
  readonly dates?: string;
  readonly version: string;
};
