/** A document that was read, and its ETag. */
export type CachedDocument = { readonly etag: string; readonly bytes: Uint8Array };

/**
 * Caches documents by their address, in a store of yours. Each read still asks the stage, which answers 304 if
 * nothing changed, so that erased data is never read from the cache.
 */
export type DocumentCache = {
  readonly get: (href: string) => Promise<CachedDocument | undefined>;
  readonly set: (href: string, document: CachedDocument) => Promise<void>;
  readonly delete: (href: string) => Promise<void>;
};

/** A cache that is lost when the process ends. @param maxBytes beyond it, the oldest documents are dropped */
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
      // A map iterates over its keys in insertion order.
      for (const oldest of kept.keys()) {
        if (bytes <= maxBytes) return;
        drop(oldest);
      }
    },
    delete: async (href) => drop(href),
  };
}
