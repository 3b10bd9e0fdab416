/** A document that was read, with the tag by which the stage knows it. */
export type CachedDocument = { readonly etag: string; readonly bytes: Uint8Array };

/**
 * Keeps documents that were read, on a store of yours, by their address. Each use asks the stage, which answers 304
 * where nothing changed: who was erased is not read from here.
 */
export type DocumentCache = {
  readonly get: (href: string) => Promise<CachedDocument | undefined>;
  readonly set: (href: string, document: CachedDocument) => Promise<void>;
  readonly delete: (href: string) => Promise<void>;
};

/** A cache that ends with the process. @param maxBytes beyond them the documents that were read first are dropped */
export function inMemoryCache(maxBytes = 64 * 1024 * 1024): DocumentCache {
  const kept = new Map<string, CachedDocument>();
  let bytes = 0;
  const drop = (href: string) => {
    bytes -= kept.get(href)?.bytes.byteLength ?? 0;
    kept.delete(href);
  };
  return {
    get: async (href) => kept.get(href),
    set: async (href, document) => {
      drop(href);
      kept.set(href, document);
      bytes += document.bytes.byteLength;
      // A map reports its keys in the order in which they came.
      for (const oldest of kept.keys()) {
        if (bytes <= maxBytes) return;
        drop(oldest);
      }
    },
    delete: async (href) => drop(href),
  };
}
