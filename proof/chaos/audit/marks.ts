/** Names, addresses: words that nothing else says. Single words and times may be anybody's. */
const isOfPerson = /@|\p{L} \p{L}/u;

/**
 * Texts that only documents of the erased have.
 * @param data the provider's documents, by `<account>/<endpoint>`
 */
export function marksOf(data: ReadonlyMap<string, unknown>, erased: ReadonlySet<string>): readonly string[] {
  const texts = (isOfErased: boolean) =>
    new Set(
      [...data].flatMap(([name, document]) =>
        erased.has(name.slice(0, name.lastIndexOf("/"))) === isOfErased ? textsIn(document) : [],
      ),
    );
  return [...texts(true).difference(texts(false))];
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return isOfPerson.test(value) ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
