/** What an event of an endpoint says of the document that it announces. */
export type EndpointEvent = {
  readonly accountId?: string | undefined;
  readonly companyAccountId?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly dataAvailable: boolean;
  readonly dateStart?: string | undefined;
  readonly dateEnd?: string | undefined;
};

/** Tells which documents were read since the last event that announced them. */
export class Freshness {
  /** By document, with and without its range: when the last event that announced it was received. */
  readonly #announced: { readonly names: readonly string[]; readonly since: number }[] = [];
  readonly #asOf = new Map<string, number>();

  addEvent(event: EndpointEvent, since: number): void {
    const { accountId, companyAccountId, endpoint, dataAvailable, dateStart, dateEnd } = event;
    const id = accountId ?? companyAccountId;
    if (endpoint === undefined || id === undefined || !dataAvailable) return;
    const whole = `${id}/${endpoint}`;
    const names = dateStart === undefined ? [whole] : [`${whole}#${dateStart}..${dateEnd}`, whole];
    this.#announced.push({ names, since });
  }

  /** @param sortKey `DOCUMENT#<endpoint>`, with `#<range>` where it is read by dates */
  addDocument(id: string, sortKey: string, asOf: number): void {
    const [, ...name] = sortKey.split("#");
    this.#asOf.set(`${id}/${name.join("#")}`, asOf);
  }

  /** Documents that are read for all that announced them, `<id>/<endpoint>`; one is when all of its ranges are. */
  upToDate(): ReadonlySet<string> {
    const behind = this.#announced
      .filter(({ names, since }) => !names.some((name) => (this.#asOf.get(name) ?? 0) >= since))
      .flatMap(({ names }) => names.map(withoutRange));
    return new Set([...this.#asOf.keys()].map(withoutRange)).difference(new Set(behind));
  }
}

function withoutRange(name: string): string {
  return name.split("#")[0] ?? name;
}
